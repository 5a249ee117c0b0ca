/* hook_exact_heap.c: objects of the range when every allocation is recorded: the private mimalloc.
 *
 * Hook-safe; it calls mimalloc through pointers that mimalloc_load.c has found.
 *
 *     | record, 32 bytes | what the program uses |
 *     block              p
 *
 * The heap is entered through the gate (hook_heap_gate.h) only. What a signal handler, or a thread
 * that meets a fork, frees meanwhile is put on a list in the records and freed by whoever comes in
 * next.
 *
 * All that mimalloc was ever given stays readable (hook_mimalloc.h), so a stale pointer finds a
 * record that is not live. */
#include "runtime/hook_exact_heap.h"

#include <errno.h>

#include "runtime/hook_heap_gate.h"
#include "runtime/hook_mimalloc.h"
#include "runtime/hook_record.h"

enum {
    HEADER_BYTES = sizeof(struct range_record),
    PASS_BY_WHEN_FULL = 256 /* allocations that do not ask a full heap, which searches long */
};

static uintptr_t part_base;
static _Atomic int pass_by;
static _Atomic(struct range_record *) waiting_frees; /* linked by record.born */

bool exact_heap_start(const struct mimalloc_calls *calls, uintptr_t base, size_t bytes,
                      const struct mimalloc_wishes *wishes)
{
    part_base = base;
    if (!mimalloc_start(calls, base, bytes, wishes))
        return false;
    heap_gate_open(mimalloc.mi_thread_done);
    return true;
}

/* --- objects ------------------------------------------------------------------------------- */

static struct range_record *record_before(const void *p)
{
    return (struct range_record *)((uintptr_t)p - HEADER_BYTES);
}

static __attribute__((noinline)) void free_waiting(void)
{
    /* Acquire: pairs with the release in wait_to_be_freed. */
    struct range_record *record =
        atomic_exchange_explicit(&waiting_frees, NULL, memory_order_acquire);
    while (record != NULL) {
        struct range_record *next = (struct range_record *)(uintptr_t)record->born;
        mimalloc.mi_free(record);
        record = next;
    }
}

static __attribute__((noinline)) void wait_to_be_freed(struct range_record *record)
{
    struct range_record *first = atomic_load_explicit(&waiting_frees, memory_order_relaxed);
    do
        record->born = (uintptr_t)first;
    while (!atomic_compare_exchange_weak_explicit(&waiting_frees, &first, record,
                                                  memory_order_release, memory_order_relaxed));
}

static void *block_alloc(size_t bytes, size_t alignment, bool zero)
{
    if (alignment > 16)
        return zero ? mimalloc.mi_zalloc_aligned_at(bytes, alignment, HEADER_BYTES)
                    : mimalloc.mi_malloc_aligned_at(bytes, alignment, HEADER_BYTES);
    return zero ? mimalloc.mi_zalloc(bytes) : mimalloc.mi_malloc(bytes);
}

/* The heap has no room: another piece, or for a while nobody asks. */
static __attribute__((noinline)) void *alloc_with_more(size_t bytes, size_t alignment, bool zero)
{
    void *block = mimalloc_grow() ? block_alloc(bytes, alignment, zero) : NULL;
    if (block == NULL)
        atomic_store_explicit(&pass_by, PASS_BY_WHEN_FULL, memory_order_relaxed);
    return block;
}

static __attribute__((noinline)) bool passes_by(void)
{
    return atomic_fetch_sub_explicit(&pass_by, 1, memory_order_relaxed) > 0;
}

void *exact_heap_alloc(size_t size, size_t alignment, bool zero, struct range_record **record)
{
    if (atomic_load_explicit(&pass_by, memory_order_relaxed) > 0 && passes_by())
        return NULL;
    if (!heap_gate_enter())
        return NULL;
    int saved_errno = errno;
    if (atomic_load_explicit(&waiting_frees, memory_order_relaxed) != NULL)
        free_waiting();
    void *block = block_alloc(size + HEADER_BYTES, alignment, zero);
    if (__builtin_expect(block == NULL, 0))
        block = alloc_with_more(size + HEADER_BYTES, alignment, zero);
    errno = saved_errno;
    heap_gate_leave();
    if (block == NULL)
        return NULL;
    void *p = (char *)block + HEADER_BYTES;
    *record = block;
    record_start(*record, p, size);
    return p;
}

struct range_record *exact_heap_record_of(const void *p)
{
    size_t offset = (uintptr_t)p - part_base;
    if ((uintptr_t)p % 16 != 0 || offset < HEADER_BYTES || offset >= mimalloc_given_bytes())
        return NULL;
    struct range_record *record = record_before(p);
    return record_is_live(record, p) ? record : NULL;
}

void exact_heap_free(void *p, struct range_record *record)
{
    (void)p;
    record_end(record);
    if (!heap_gate_enter()) {
        wait_to_be_freed(record);
        return;
    }
    int saved_errno = errno;
    mimalloc.mi_free(record);
    errno = saved_errno;
    heap_gate_leave();
}

/* Reads only what does not change while the block lives; no need to be inside. */
size_t exact_heap_usable_size(const void *p)
{
    return mimalloc.mi_usable_size(record_before(p)) - HEADER_BYTES;
}
