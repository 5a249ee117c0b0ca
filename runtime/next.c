/* next.c: the next allocator in the target's search order: glibc's, or one that the user preloads
 * or links (jemalloc, tcmalloc, mimalloc).
 *
 * Not hook-safe: dlsym may allocate, which the bootstrap functions serve meanwhile. All entries are
 * found before any is used, so that no object is freed by another allocator than gave it. For the
 * same reason an aligned function that the allocator lacks, and that would come from the next
 * library behind it, is made of one that it has: jemalloc 5.3.0 has no pvalloc, and frees what
 * glibc's gives by writing over it. */
#include "runtime/next.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>

#include "runtime/hook_next.h"

/* The object that holds the function; NULL when it is not known. */
static const struct link_map *owner_of(uintptr_t function)
{
    struct dl_find_object object;
    return _dl_find_object((void *)function, &object) == 0 ? object.dlfo_link_map : NULL;
}

/* Whether the library that malloc comes from has this function too. */
static bool is_of(const struct link_map *allocator, uintptr_t function)
{
    return owner_of(function) == allocator;
}

static void complete(struct next *found)
{
    const struct link_map *allocator = owner_of((uintptr_t)found->malloc);
    found->known_size = is_of(allocator, (uintptr_t)found->malloc_usable_size)
                            ? found->malloc_usable_size
                            : next_size_unknown;
    if (!is_of(allocator, (uintptr_t)found->posix_memalign))
        return;
    if (!is_of(allocator, (uintptr_t)found->memalign))
        found->memalign = next_aligned;
    if (!is_of(allocator, (uintptr_t)found->aligned_alloc))
        found->aligned_alloc = next_aligned;
    if (!is_of(allocator, (uintptr_t)found->valloc))
        found->valloc = next_page_aligned;
    if (!is_of(allocator, (uintptr_t)found->pvalloc))
        found->pvalloc = next_pages;
}

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
    complete(&found);
    next = found;
}
