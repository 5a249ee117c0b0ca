/* grows.c: a block grows by realloc, 1 MiB at a time, up to the MiB given; each step's mark stays.
 *
 * Then it shrinks to a byte the same way. Fails when a mark is lost. */
#include <stdlib.h>

enum { MIB = 1 << 20 };

int main(int argc, char **argv)
{
    size_t end = argc > 1 ? strtoul(argv[1], NULL, 10) : 64;
    char *block = NULL;
    for (size_t mib = 1; mib <= end; mib++) {
        block = realloc(block, mib * MIB);
        if (block == NULL || (mib > 1 && block[(mib - 2) * MIB] != (char)(mib - 1)))
            return 1;
        block[(mib - 1) * MIB] = (char)mib;
    }
    for (size_t mib = end; mib > 1; mib--) {
        if (block[(mib - 1) * MIB] != (char)mib)
            return 1;
        block = realloc(block, (mib - 1) * MIB);
    }
    block = realloc(block, 1);
    return *block != 1;
}
