/* malloc_loop.c: the benchmark of the unsampled path: a ring of blocks, one freed for each made.
 *
 * 256 blocks of 16 to 271 bytes, each written once. Argument: millions of rounds (default 60,
 * about a second). */
#include <stdint.h>
#include <stdlib.h>

enum { RING = 256, SMALLEST_BYTES = 16 };

int main(int argc, char **argv)
{
    long rounds = (argc > 1 ? strtol(argv[1], NULL, 10) : 60) * 1000000;
    static volatile char *ring[RING];
    uint32_t random = 1;
    for (long i = 0; i < rounds; i++) {
        random = random * 1664525u + 1013904223u;
        volatile char **slot = &ring[i % RING];
        free((void *)*slot);
        *slot = malloc(SMALLEST_BYTES + (random >> 24));
        if (*slot == NULL)
            return 1;
        **slot = 1;
    }
    return 0;
}
