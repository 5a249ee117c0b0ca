/* hook_malloc.c: the C allocation functions that the target calls, but for the entry of malloc and
 * free (hook_entry.c).
 *
 * Hook-safe. Each is a short hot half that counts the request and, nearly always, jumps on to the
 * next allocator with the arguments untouched, and a cold half, out of line, for the sampled
 * request. errno, alignments and odd cases are the next allocator's own wherever it is asked; where
 * the answer is ours it is glibc's (malloc/malloc.c, POSIX posix_memalign). */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/hook_event.h"
#include "runtime/hook_sampler.h"

/* A hot half fits into one line of the instruction cache. */
#define HOT HOOK __attribute__((aligned(64)))

/* C23, in newer glibc; cfree left the headers in 2.26 and is still called by old binaries. */
HOOK void free_sized(void *p, size_t size);
HOOK void free_aligned_sized(void *p, size_t alignment, size_t size);
HOOK void cfree(void *p);

enum { MALLOC_ALIGNMENT = 16 };

/* Objects beyond PTRDIFF_MAX do not exist: the next allocator refuses them in its own words. */
static bool sampled(size_t size)
{
    return sampler_hit(size) && size <= PTRDIFF_MAX;
}

/* --- malloc, calloc -------------------------------------------------------------------------- */

/* malloc's own half of that is in hook_entry.c, which calls this one. */
void *malloc_sampled(size_t size) __attribute__((visibility("hidden")));
void *malloc_sampled(size_t size)
{
    if (!sampled(size))
        return next.malloc(size);
    void *p = event_allocate(size, MALLOC_ALIGNMENT, false);
    if (p != NULL)
        return p;
    p = next.malloc(size);
    if (p != NULL)
        event_missed(size);
    return p;
}

/* The program may define malloc and not realloc: ours never call each other by the public name. */
static inline void *hooked_malloc(size_t size)
{
    if (LIKELY(sampler_passes(size)))
        return next.malloc(size);
    return malloc_sampled(size);
}

static SAMPLED_HALF void *sampled_calloc(size_t count, size_t size)
{
    size_t bytes = count * size;
    if (!sampled(bytes))
        return next.calloc(count, size);
    void *p = event_allocate(bytes, MALLOC_ALIGNMENT, true);
    if (p != NULL)
        return p;
    p = next.calloc(count, size);
    if (p != NULL)
        event_missed(bytes);
    return p;
}

HOT void *calloc(size_t count, size_t size)
{
    size_t bytes;
    if (UNLIKELY(__builtin_mul_overflow(count, size, &bytes))) {
        errno = ENOMEM;
        return NULL;
    }
    if (LIKELY(sampler_passes(bytes)))
        return next.calloc(count, size);
    return sampled_calloc(count, size);
}

/* --- free and its kin: free itself is in hook_entry.c ----------------------------------------- */

HOOK void cfree(void *p)
{
    event_free_any(p);
}

HOOK void free_sized(void *p, size_t size)
{
    (void)size;
    event_free_any(p);
}

HOOK void free_aligned_sized(void *p, size_t alignment, size_t size)
{
    (void)alignment;
    (void)size;
    event_free_any(p);
}

HOOK size_t malloc_usable_size(void *p)
{
    if (UNLIKELY(range_holds(p)))
        return event_usable_size(p);
    return next.malloc_usable_size(p);
}

/* --- realloc --------------------------------------------------------------------------------- */

static SAMPLED_HALF void *owned_realloc(void *p, size_t size)
{
    if (size == 0) {
        event_free(p);
        return NULL;
    }
    bool hit = !sampler_passes(size) && sampler_hit(size);
    void *moved = size <= PTRDIFF_MAX ? event_reallocate(p, size, hit) : NULL;
    if (moved == NULL)
        errno = ENOMEM;
    return moved;
}

static SAMPLED_HALF void *sampled_realloc(void *p, size_t size)
{
    if (!sampled(size))
        return next.realloc(p, size);
    void *moved = event_adopt(p, size);
    if (moved != NULL)
        return moved;
    moved = next.realloc(p, size);
    if (moved != NULL)
        event_missed(size);
    return moved;
}

static inline void *hooked_realloc(void *p, size_t size)
{
    if (p == NULL)
        return hooked_malloc(size);
    if (UNLIKELY(range_holds(p)))
        return owned_realloc(p, size);
    if (size == 0 || LIKELY(sampler_passes(size)))
        return next.realloc(p, size);
    return sampled_realloc(p, size);
}

HOT void *realloc(void *p, size_t size)
{
    return hooked_realloc(p, size);
}

HOOK void *reallocarray(void *p, size_t count, size_t size)
{
    size_t bytes;
    if (UNLIKELY(__builtin_mul_overflow(count, size, &bytes))) {
        errno = ENOMEM;
        return NULL;
    }
    return hooked_realloc(p, bytes);
}

/* --- aligned --------------------------------------------------------------------------------- */

/* glibc's memalign takes any alignment and rounds it up to a power of two. */
static size_t power_of_two(size_t alignment)
{
    size_t power = MALLOC_ALIGNMENT;
    while (power < alignment && power <= SIZE_MAX / 4)
        power *= 2;
    return power;
}

static SAMPLED_HALF void *sampled_aligned(size_t alignment, size_t size,
                                          void *(*unsampled)(size_t, size_t))
{
    if (!sampled(size) || alignment > PTRDIFF_MAX)
        return unsampled(alignment, size);
    void *p = event_allocate(size, power_of_two(alignment), false);
    if (p != NULL)
        return p;
    p = unsampled(alignment, size);
    if (p != NULL)
        event_missed(size);
    return p;
}

HOOK void *memalign(size_t alignment, size_t size)
{
    if (LIKELY(sampler_passes(size)))
        return next.memalign(alignment, size);
    return sampled_aligned(alignment, size, next.memalign);
}

HOOK void *aligned_alloc(size_t alignment, size_t size)
{
    if (LIKELY(sampler_passes(size)))
        return next.aligned_alloc(alignment, size);
    return sampled_aligned(alignment, size, next.aligned_alloc);
}

static SAMPLED_HALF int sampled_posix_memalign(void **p, size_t alignment, size_t size)
{
    bool valid =
        alignment != 0 && alignment % sizeof(void *) == 0 && (alignment & (alignment - 1)) == 0;
    if (!sampled(size) || !valid)
        return next.posix_memalign(p, alignment, size);
    void *object = event_allocate(size, power_of_two(alignment), false);
    if (object != NULL) {
        *p = object;
        return 0;
    }
    int error = next.posix_memalign(p, alignment, size);
    if (error == 0)
        event_missed(size);
    return error;
}

HOOK int posix_memalign(void **p, size_t alignment, size_t size)
{
    if (LIKELY(sampler_passes(size)))
        return next.posix_memalign(p, alignment, size);
    return sampled_posix_memalign(p, alignment, size);
}

enum { PAGE = 4096 };

static SAMPLED_HALF void *sampled_pages(size_t size, size_t bytes, void *(*unsampled)(size_t))
{
    if (!sampled(bytes))
        return unsampled(size);
    void *p = event_allocate(bytes, PAGE, false);
    if (p != NULL)
        return p;
    p = unsampled(size);
    if (p != NULL)
        event_missed(bytes);
    return p;
}

HOOK void *valloc(size_t size)
{
    if (LIKELY(sampler_passes(size)))
        return next.valloc(size);
    return sampled_pages(size, size, next.valloc);
}

/* Rounds the size up to whole pages; that is what the program asks for by calling it. */
HOOK void *pvalloc(size_t size)
{
    size_t bytes = size <= PTRDIFF_MAX ? (size + PAGE - 1) & ~(size_t)(PAGE - 1) : size;
    if (LIKELY(sampler_passes(bytes)))
        return next.pvalloc(size);
    return sampled_pages(size, bytes, next.pvalloc);
}
