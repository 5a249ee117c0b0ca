/* hook_next.c: functions that the next allocator lacks, made of its posix_memalign.
 *
 * Hook-safe. Semantics are glibc's (malloc/malloc.c): memalign rounds an alignment up to a power of
 * two, pvalloc a size up to whole pages. */
#include "runtime/hook_next.h"

#include <errno.h>
#include <stdint.h>

enum { PAGE = 4096 };

static size_t valid_alignment(size_t alignment)
{
    size_t power = sizeof(void *);
    while (power < alignment && power <= SIZE_MAX / 4)
        power *= 2;
    return power;
}

void *next_aligned(size_t alignment, size_t size)
{
    void *object = NULL;
    int error = next.posix_memalign(&object, valid_alignment(alignment), size);
    if (error == 0)
        return object;
    errno = error;
    return NULL;
}

void *next_page_aligned(size_t size)
{
    return next_aligned(PAGE, size);
}

void *next_pages(size_t size)
{
    size_t bytes;
    if (__builtin_add_overflow(size, PAGE - 1, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return next_aligned(PAGE, bytes & ~(size_t)(PAGE - 1));
}

size_t next_size_unknown(void *p)
{
    (void)p;
    return 0;
}
