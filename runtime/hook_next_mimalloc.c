/* hook_next_mimalloc.c: the private mimalloc as the allocator of what is not sampled.
 *
 * Hook-safe; mimalloc and the allocator behind it are called by pointer. Where a pointer lies says
 * whose it is:
 *
 *     slabs and large slots of the range   sampled objects, and large ones that are not
 *     mimalloc's part                      all the others
 *     elsewhere                            the C library's: from before our start, from its inside
 *
 * Large objects get slots (hook_large.h), which grow by mprotect and mremap; mimalloc 2.0.9 copies
 * them.
 *
 * mimalloc is entered through the gate (hook_heap_gate.h), as for exact profiles, but for its two
 * shortest ways: a small block off the thread's own free list, and back onto it (where the page may
 * become empty). These touch only what is the thread's own, so a fork finds nothing half done in
 * them that the child could meet; but a signal handler that allocates may interrupt them, as it may
 * in the bare libmimalloc. To gate them too makes a loop of malloc and free cost 1.46 of what it
 * does with the bare libmimalloc, as against 1.04 (measured, Zen 4). They are in the entry itself
 * (entry_mimalloc.c); where that cannot be, everything goes through the gate. Who cannot come in,
 * since he is in already or a fork is under way, gets an object of the range; what he frees waits
 * for the next one who comes in. */
#include "runtime/hook_next_mimalloc.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "runtime/hook_event.h"
#include "runtime/hook_heap_gate.h"
#include "runtime/hook_mimalloc.h"
#include "runtime/hook_next.h"

enum {
    SMALL_BYTES = 1024,      /* mimalloc's short way goes up to this */
    LARGE_BYTES = 512 << 10, /* from here on slots */
    HUGE_BYTES = 16 << 20,   /* mimalloc cuts no larger ones out of its segments */
    MAX_ALIGNMENT = 64 << 10,
    MALLOC_ALIGNMENT = 16,
    PAGE = 4096,
    PASS_BY_WHEN_FULL = 256 /* requests that do not ask a full heap, which searches long */
};

uintptr_t next_mimalloc_base;
uintptr_t next_mimalloc_end;

static struct next behind; /* what was `next` before */
static void (*retire)(void *page);
static _Atomic int pass_by;
static _Atomic(void **) waiting_frees; /* linked by their first words */

static bool holds(const void *p)
{
    return (uintptr_t)p >= next_mimalloc_base && (uintptr_t)p < next_mimalloc_end;
}

/* --- objects from other places --------------------------------------------------------------- */

static void *behind_alloc(size_t size, size_t alignment, bool zero)
{
    if (alignment > MALLOC_ALIGNMENT) {
        void *p = behind.memalign(alignment, size);
        if (p != NULL && zero)
            memset(p, 0, size);
        return p;
    }
    return zero ? behind.calloc(1, size) : behind.malloc(size);
}

/* An object of the range that is not in the profile. */
static void *range_alloc_unrecorded(size_t size, size_t alignment, bool zero)
{
    struct range_record *record;
    return size <= PTRDIFF_MAX ? range_alloc(size, alignment, zero, &record) : NULL;
}

/* --- inside the gate ------------------------------------------------------------------------- */

static __attribute__((noinline)) void free_waiting(void)
{
    /* Acquire: pairs with the release in wait_to_be_freed. */
    void **p = atomic_exchange_explicit(&waiting_frees, NULL, memory_order_acquire);
    while (p != NULL) {
        void **following = *p;
        mimalloc.mi_free(p);
        p = following;
    }
}

static __attribute__((noinline)) void wait_to_be_freed(void **p)
{
    void **first = atomic_load_explicit(&waiting_frees, memory_order_relaxed);
    do
        *p = first;
    while (!atomic_compare_exchange_weak_explicit(&waiting_frees, &first, p, memory_order_release,
                                                  memory_order_relaxed));
}

static void *block_alloc(size_t size, size_t alignment, bool zero)
{
    if (alignment > MALLOC_ALIGNMENT)
        return zero ? mimalloc.mi_zalloc_aligned_at(size, alignment, 0)
                    : mimalloc.mi_malloc_aligned(size, alignment);
    return zero ? mimalloc.mi_zalloc(size) : mimalloc.mi_malloc(size);
}

/* The heap has no room: another piece, or for a while nobody asks. */
static __attribute__((noinline)) void *alloc_with_more(size_t size, size_t alignment, bool zero)
{
    void *p = mimalloc_grow() ? block_alloc(size, alignment, zero) : NULL;
    if (p == NULL)
        atomic_store_explicit(&pass_by, PASS_BY_WHEN_FULL, memory_order_relaxed);
    return p;
}

static __attribute__((noinline)) bool passes_by(void)
{
    return atomic_fetch_sub_explicit(&pass_by, 1, memory_order_relaxed) > 0;
}

static void *heap_alloc(size_t size, size_t alignment, bool zero)
{
    if (UNLIKELY(atomic_load_explicit(&pass_by, memory_order_relaxed) > 0) && passes_by())
        return behind_alloc(size, alignment, zero);
    if (UNLIKELY(!heap_gate_enter())) {
        void *p = range_alloc_unrecorded(size, alignment, zero);
        return p != NULL ? p : behind_alloc(size, alignment, zero);
    }
    int saved_errno = errno;
    if (UNLIKELY(atomic_load_explicit(&waiting_frees, memory_order_relaxed) != NULL))
        free_waiting();
    void *p = block_alloc(size, alignment, zero);
    if (UNLIKELY(p == NULL))
        p = alloc_with_more(size, alignment, zero);
    errno = saved_errno;
    heap_gate_leave();
    return LIKELY(p != NULL) ? p : behind_alloc(size, alignment, zero);
}

static void heap_free(void *p)
{
    if (UNLIKELY(!heap_gate_enter())) {
        wait_to_be_freed(p);
        return;
    }
    int saved_errno = errno;
    mimalloc.mi_free(p);
    errno = saved_errno;
    heap_gate_leave();
}

/* --- all sizes ------------------------------------------------------------------------------- */

static __attribute__((noinline)) void *large_alloc_unrecorded(size_t size, size_t alignment,
                                                              bool zero)
{
    void *p = range_alloc_unrecorded(size, alignment, zero);
    if (p == NULL && size <= HUGE_BYTES && alignment <= MAX_ALIGNMENT)
        return heap_alloc(size, alignment, zero);
    return p != NULL ? p : behind_alloc(size, alignment, zero);
}

static void *any_alloc(size_t size, size_t alignment, bool zero)
{
    if (UNLIKELY(size >= LARGE_BYTES || alignment > MAX_ALIGNMENT))
        return large_alloc_unrecorded(size, alignment, zero);
    return heap_alloc(size, alignment, zero);
}

static void *gated_malloc(size_t size)
{
    return any_alloc(size, MALLOC_ALIGNMENT, false);
}

static void gated_free(void *p)
{
    if (LIKELY(holds(p)))
        heap_free(p);
    else
        behind.free(p);
}

static void *mimalloc_calloc(size_t count, size_t size)
{
    size_t bytes = count * size; /* the hook has checked the product */
    if (bytes > SMALL_BYTES)
        return any_alloc(bytes, MALLOC_ALIGNMENT, true);
    void *p = next.malloc(bytes);
    return LIKELY(p != NULL) ? memset(p, 0, bytes) : NULL;
}

/* The C library's objects stay with it; mimalloc's own go by its rule: in place unless more than
 * half of the room would be wasted. */
static void *mimalloc_realloc(void *p, size_t size)
{
    if (!holds(p))
        return behind.realloc(p, size);
    if (size == 0) {
        next.free(p);
        return NULL;
    }
    size_t usable = mimalloc.mi_usable_size(p);
    if (size <= usable && size >= usable / 2)
        return p;
    void *moved = next.malloc(size);
    if (UNLIKELY(moved == NULL))
        return NULL;
    memcpy(moved, p, usable < size ? usable : size);
    next.free(p);
    return moved;
}

/* As glibc's memalign: any alignment, rounded up to a power of two. Objects of up to 8 bytes lie at
 * multiples of 8 unless they are made larger. */
static void *mimalloc_memalign(size_t alignment, size_t size)
{
    size_t power = MALLOC_ALIGNMENT;
    if (size < MALLOC_ALIGNMENT)
        size = MALLOC_ALIGNMENT;
    if (UNLIKELY(alignment > PTRDIFF_MAX))
        return behind.memalign(alignment, size);
    while (power < alignment)
        power *= 2;
    return any_alloc(size, power, false);
}

static int mimalloc_posix_memalign(void **p, size_t alignment, size_t size)
{
    if (alignment == 0 || alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    int saved_errno = errno;
    void *object = mimalloc_memalign(alignment, size);
    errno = saved_errno;
    if (object == NULL)
        return ENOMEM;
    *p = object;
    return 0;
}

static void *mimalloc_valloc(size_t size)
{
    return any_alloc(size, PAGE, false);
}

static void *mimalloc_pvalloc(size_t size)
{
    return any_alloc(size <= PTRDIFF_MAX ? (size + PAGE - 1) & ~(size_t)(PAGE - 1) : size, PAGE,
                     false);
}

/* Reads only what does not change while the block lives; no need to be inside. */
static size_t mimalloc_usable_size(void *p)
{
    return LIKELY(holds(p)) ? mimalloc.mi_usable_size(p) : behind.malloc_usable_size(p);
}

static size_t mimalloc_known_size(void *p)
{
    return LIKELY(holds(p)) ? mimalloc.mi_usable_size(p) : behind.known_size(p);
}

void next_mimalloc_install(uintptr_t base, size_t bytes)
{
    behind = next;
    next_mimalloc_base = base;
    next_mimalloc_end = base + bytes;
    next = (struct next){
        .malloc = gated_malloc,
        .calloc = mimalloc_calloc,
        .realloc = mimalloc_realloc,
        .free = gated_free,
        .memalign = mimalloc_memalign,
        .aligned_alloc = mimalloc_memalign,
        .posix_memalign = mimalloc_posix_memalign,
        .valloc = mimalloc_valloc,
        .pvalloc = mimalloc_pvalloc,
        .malloc_usable_size = mimalloc_usable_size,
        .known_size = mimalloc_known_size,
    };
}

/* --- behind the entry ------------------------------------------------------------------------ */

void next_mimalloc_use_entry(const struct next_mimalloc_entry *entry)
{
    retire = entry->retire;
    next.malloc = entry->malloc;
    next.free = entry->free;
}

void *next_mimalloc_malloc_exit(void *heap, size_t size)
{
    (void)heap;
    return any_alloc(size, MALLOC_ALIGNMENT, false);
}

void next_mimalloc_free_exit(void *segment, void *page, bool is_local, void *p)
{
    (void)segment;
    (void)page;
    (void)is_local;
    heap_free(p);
}

/* The page is the thread's own, and whatever mimalloc does with it, it spins nowhere and holds up
 * nobody (src/page.c, src/segment.c), so a fork need not wait: that spares a sixth of the time of a
 * block that is made and freed again and again. A page that is not retired is found later, by
 * mimalloc's next search for room. errno is kept unless the kernel refuses to take memory back. */
void next_mimalloc_retire_exit(void *page)
{
    if (LIKELY(heap_gate_is_clear()))
        retire(page);
}

void next_mimalloc_free_other(void *p)
{
    if (UNLIKELY(range_holds(p)))
        event_free(p);
    else if (p != NULL)
        behind.free(p);
}
