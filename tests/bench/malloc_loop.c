/* malloc_loop.c: the benchmark of malloc and free: a ring of blocks, one freed for each made.
 *
 * 256 blocks of 16 to 271 bytes, each written once. Arguments: millions of rounds (default 60,
 * about a second), frames between main and the loop (0), threads that each do it (1). */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { RING = 256, SMALLEST_BYTES = 16, THREADS_MAX = 64 };

static long rounds, frames;

static __attribute__((noinline)) void loop(void)
{
    volatile char *volatile ring[RING] = {NULL};
    uint32_t random = 1;
    for (long i = 0; i < rounds; i++) {
        random = random * 1664525u + 1013904223u;
        volatile char *volatile *slot = &ring[i % RING];
        free((void *)*slot);
        *slot = malloc(SMALLEST_BYTES + (random >> 24));
        if (*slot == NULL)
            exit(1);
        **slot = 1;
    }
}

static __attribute__((noinline)) void deeper(long left)
{
    if (left > 0)
        deeper(left - 1);
    else
        loop();
    __asm__ volatile(""); /* no tail call */
}

static void *run(void *unused)
{
    deeper(frames);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS_MAX];
    long threads = argc > 3 ? strtol(argv[3], NULL, 10) : 1;
    rounds = (argc > 1 ? strtol(argv[1], NULL, 10) : 60) * 1000000;
    frames = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    if (threads < 1 || threads > THREADS_MAX)
        return 2;
    for (long i = 1; i < threads; i++)
        if (pthread_create(&thread[i], NULL, run, NULL) != 0)
            return 1;
    run(NULL);
    for (long i = 1; i < threads; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
