/* grow.c: the benchmark of a block that grows: one realloc for each MiB, from 1 MiB on.
 *
 * Each new MiB is written, a byte a page, as a program fills a buffer. Argument: MiB in the end
 * (default 4096); with a second one nothing is written, and the allocator's work is all there is.
 */
#include <stdint.h>
#include <stdlib.h>

enum { MIB = 1 << 20, PAGE = 4096 };

int main(int argc, char **argv)
{
    size_t end = argc > 1 ? strtoul(argv[1], NULL, 10) : 4096;
    volatile char *block = NULL;
    for (size_t mib = 1; mib <= end; mib++) {
        block = realloc((void *)block, mib * MIB);
        if (block == NULL)
            return 1;
        if (argc > 2)
            continue;
        for (size_t at = (mib - 1) * MIB; at < mib * MIB; at += PAGE)
            block[at] = (char)mib;
    }
    free((void *)block);
    return 0;
}
