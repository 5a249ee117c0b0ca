/* needs_memory.c: needs a given amount of memory, and says how much it got.
 *
 * needs_memory MEGABYTES SIZE: allocates blocks of SIZE bytes until they hold MEGABYTES, writes to
 * each page, frees every third and allocates it anew; then frees all. The blocks are linked with
 * each other. Prints "got MEGABYTES", with what the blocks held before the first failure, and ends
 * with status 1 when there was one. */
#include <stdio.h>
#include <stdlib.h>

struct block {
    struct block *next;
};

__attribute__((noinline)) static struct block *allocate_block(size_t size, struct block *next)
{
    struct block *block = malloc(size);
    for (size_t i = 0; block != NULL && i < size; i += 4096)
        ((volatile char *)block)[i] = 1;
    if (block != NULL)
        block->next = next;
    return block;
}

int main(int argc, char **argv)
{
    if (argc != 3 || strtoul(argv[2], NULL, 10) < sizeof(struct block))
        return 2;
    size_t size = strtoul(argv[2], NULL, 10);
    size_t count = (strtoul(argv[1], NULL, 10) << 20) / size;
    size_t got = 0;
    struct block *list = NULL, *block;
    while (got < count && (block = allocate_block(size, list)) != NULL) {
        list = block;
        got++;
    }
    if (got == count) {
        size_t i = 0;
        for (struct block **place = &list; *place != NULL && got == count; i++) {
            block = *place;
            if (i % 3 == 0) {
                struct block *rest = block->next;
                free(block);
                *place = block = allocate_block(size, rest);
                if (block == NULL)
                    got = i;
            }
            if (block != NULL)
                place = &block->next;
        }
    }
    for (block = list; block != NULL; block = list) {
        list = block->next;
        free(block);
    }
    printf("got %zu\n", (got * size + (1 << 19)) >> 20);
    return got != count;
}
