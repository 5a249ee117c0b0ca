/* grow.c: the benchmark of a block that grows: one realloc for each MiB, from 1 MiB on.
 *
 * Each new MiB is written, a byte a page, as a program fills a buffer. Arguments: MiB in the end
 * (default 4096); "untouched", and nothing is written, so that the allocator's work is all there
 * is; how many such blocks, one after the other (1).
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { MIB = 1 << 20, PAGE = 4096 };

static bool grow(size_t end, bool written)
{
    volatile char *block = NULL;
    for (size_t mib = 1; mib <= end; mib++) {
        block = realloc((void *)block, mib * MIB);
        if (block == NULL)
            return false;
        for (size_t at = (mib - 1) * MIB; written && at < mib * MIB; at += PAGE)
            block[at] = (char)mib;
    }
    free((void *)block);
    return true;
}

int main(int argc, char **argv)
{
    size_t end = argc > 1 ? strtoul(argv[1], NULL, 10) : 4096;
    long blocks = argc > 3 ? strtol(argv[3], NULL, 10) : 1;
    for (long i = 0; i < blocks; i++)
        if (!grow(end, argc <= 2))
            return 1;
    return 0;
}
