/* threads_pass_blocks.c: threads allocate blocks that other threads free.
 *
 * Each of 8 threads puts 20,000 blocks of 1 to 512 bytes into shared places and frees what it finds
 * there. Prints "OBJECTS BYTES": what allocate_block() has allocated that is never freed, as the
 * program's own counters have it; at --rate=1 the profile's in-use values equal them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, BLOCKS = 20000, PLACES = 1024 };

struct block {
    size_t size;
};

static _Atomic(struct block *) places[PLACES];
static _Atomic long live_objects, live_bytes;

__attribute__((noinline)) static struct block *allocate_block(size_t size)
{
    struct block *block = malloc(size);
    block->size = size;
    atomic_fetch_add(&live_objects, 1);
    atomic_fetch_add(&live_bytes, (long)size);
    return block;
}

static void *work(void *seed)
{
    unsigned random = (unsigned)(size_t)seed;
    for (int i = 0; i < BLOCKS; i++) {
        struct block *block = allocate_block(sizeof(*block) + (size_t)rand_r(&random) % 505);
        block = atomic_exchange(&places[rand_r(&random) % PLACES], block);
        if (block != NULL) {
            atomic_fetch_sub(&live_objects, 1);
            atomic_fetch_sub(&live_bytes, (long)block->size);
            free(block);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%ld %ld\n", live_objects, live_bytes);
    return 0;
}
