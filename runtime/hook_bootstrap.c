/* hook_bootstrap.c: the allocator before there is an allocator.
 *
 * Hook-safe. The loader allocates through us before our constructor has run, and so do .preinit
 * functions of the program; dlsym, which the constructor needs to find the next allocator, may
 * allocate as well. These objects live in the range, unrecorded, so that free and realloc know them
 * for ever after. They are not part of the profile. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "runtime/hook_event.h"
#include "runtime/hook_next.h"

static void *bootstrap_aligned(size_t alignment, size_t size)
{
    struct range_record *record;
    void *p = range_reserve() ? range_alloc(size, alignment, true, &record) : NULL;
    if (p == NULL)
        errno = ENOMEM;
    return p;
}

static void *bootstrap_malloc(size_t size)
{
    return bootstrap_aligned(16, size);
}

static void *bootstrap_calloc(size_t count, size_t size)
{
    return bootstrap_aligned(16, count * size); /* the hook has checked the product */
}

/* Only for NULL: what the range does not own cannot have come from us. */
static void *bootstrap_realloc(void *p, size_t size)
{
    return p == NULL ? bootstrap_malloc(size) : NULL;
}

/* The loader's own early objects; it never reuses that memory either. */
static void bootstrap_free(void *p)
{
    (void)p;
}

static int bootstrap_posix_memalign(void **p, size_t alignment, size_t size)
{
    void *object = bootstrap_aligned(alignment, size);
    if (object == NULL)
        return ENOMEM;
    *p = object;
    return 0;
}

static void *bootstrap_page_aligned(size_t size)
{
    return bootstrap_aligned(4096, size);
}

struct next next = {
    .malloc = bootstrap_malloc,
    .calloc = bootstrap_calloc,
    .realloc = bootstrap_realloc,
    .free = bootstrap_free,
    .memalign = bootstrap_aligned,
    .aligned_alloc = bootstrap_aligned,
    .posix_memalign = bootstrap_posix_memalign,
    .valloc = bootstrap_page_aligned,
    .pvalloc = bootstrap_page_aligned,
    .malloc_usable_size = next_size_unknown,
    .known_size = next_size_unknown,
};
