/* reallocates.c: blocks that realloc makes larger and smaller, 20,000 times. Prints "ok" when each
 * has kept what was in it; all are freed at the end. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 64, ROUNDS = 20000, LARGEST_BYTES = 100000 };

static struct {
    unsigned char *bytes;
    size_t size;
} blocks[BLOCKS];

/* Byte i of block n. */
static unsigned char mark(size_t n, size_t i)
{
    return (unsigned char)(n * 31 + i * 7 + i / 251);
}

static int is_intact(size_t n, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (blocks[n].bytes[i] != mark(n, i))
            return 0;
    return 1;
}

int main(void)
{
    uint32_t random = 1;
    for (int round = 0; round < ROUNDS; round++) {
        random = random * 1664525u + 1013904223u;
        size_t n = random >> 26, old = blocks[n].size;
        /* As often small as large. */
        size_t size = 1 + ((random >> 4) % LARGEST_BYTES >> (random >> 9) % 16);
        unsigned char *moved = realloc(blocks[n].bytes, size);
        if (moved == NULL)
            return 1;
        blocks[n].bytes = moved;
        blocks[n].size = size;
        if (!is_intact(n, old < size ? old : size)) {
            puts("changed");
            return 1;
        }
        for (size_t i = old; i < size; i++)
            moved[i] = mark(n, i);
    }
    for (int n = 0; n < BLOCKS; n++)
        free(blocks[n].bytes);
    puts("ok");
    return 0;
}
