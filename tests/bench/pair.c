/* pair.c: N pairs of malloc(64) and free, for counting instructions.
 *
 * Run with N and 2 N, the difference over N is one pair's cost without start-up and without the
 * noise of a clock. */
#include <stdlib.h>

int main(int argc, char **argv)
{
    long pairs = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    for (long i = 0; i < pairs; i++) {
        void *volatile block = malloc(64);
        free(block);
    }
    return 0;
}
