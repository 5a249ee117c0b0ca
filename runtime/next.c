/* next.c: the next allocator in the target's search order: glibc's, or one that the user preloads
 * or links (jemalloc, tcmalloc, mimalloc).
 *
 * Not hook-safe: dlsym may allocate, which the bootstrap functions serve meanwhile. All entries are
 * found before any is used, so that no object is freed by another allocator than gave it. */
#include "runtime/next.h"

#include <dlfcn.h>

#include "runtime/hook_next.h"

void next_start(void)
{
    struct next found = next;
#define FIND(name)                                                                                 \
    {                                                                                              \
        void *symbol = dlsym(RTLD_NEXT, #name);                                                    \
        if (symbol != NULL)                                                                        \
            found.name = (__typeof__(found.name))symbol;                                           \
    }
    FIND(malloc)
    FIND(calloc)
    FIND(realloc)
    FIND(free)
    FIND(memalign)
    FIND(aligned_alloc)
    FIND(posix_memalign)
    FIND(valloc)
    FIND(pvalloc)
    FIND(malloc_usable_size)
#undef FIND
    next = found;
}
