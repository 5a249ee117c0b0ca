/* hook_exact_heap.c: objects of the range when every allocation is recorded: the private mimalloc.
 *
 * Hook-safe; it calls mimalloc through pointers that exact_heap_load.c has found. Written for
 * mimalloc 2.0.9 (Debian 12).
 *
 *     | record, 32 bytes | what the program uses |
 *     block              p
 *
 * The heap is entered through the gate (hook_heap_gate.h) only. What a signal handler, or a thread
 * that meets a fork, frees meanwhile is put on a list in the records and freed by whoever comes in
 * next.
 *
 * mimalloc gets its part piece by piece, each made usable before: it commits by mprotect, which
 * then cannot fail, whereas 2.0.9 crashes when the kernel refuses it (RLIMIT_DATA, strict
 * overcommit). Told that the pieces are not committed, it still gives pages back, by
 * madvise(MADV_DONTNEED); so all that it was given stays readable, and a stale pointer finds a
 * record that is not live. */
#include "runtime/hook_exact_heap.h"

#include <errno.h>

#include "runtime/hook_heap_gate.h"
#include "runtime/hook_pages.h"
#include "runtime/hook_record.h"

enum {
    HEADER_BYTES = sizeof(struct range_record),
    PIECES_MAX = 60,        /* mimalloc 2 has room for 64 arenas */
    FIRST_PIECE = 2,        /* segments; each further piece doubles what there is */
    PASS_BY_WHEN_FULL = 256 /* allocations that do not ask a full heap, which searches long */
};

static struct exact_heap_calls heap;
static uintptr_t part_base;
static size_t part_bytes;
static _Atomic size_t given_bytes; /* from part_base on; the rest has no memory */
static _Atomic int pieces;
static _Atomic bool giving;
static _Atomic int pass_by;
static _Atomic(struct range_record *) waiting_frees; /* linked by record.born */

/* --- the part ------------------------------------------------------------------------------ */

/* The next piece of the part, as large as the kernel grants; false when there is none, or another
 * thread is at it. Inside the gate. */
static bool give_piece(void)
{
    if (atomic_exchange_explicit(&giving, true, memory_order_acquire))
        return false;
    bool ok = false;
    mi_arena_id_t arena;
    size_t given = atomic_load_explicit(&given_bytes, memory_order_relaxed);
    size_t bytes = given != 0 ? given : FIRST_PIECE * EXACT_HEAP_SEGMENT_BYTES;
    if (bytes > part_bytes - given)
        bytes = part_bytes - given;
    for (; !ok && bytes != 0 && pieces < PIECES_MAX;
         bytes = bytes / 2 / EXACT_HEAP_SEGMENT_BYTES * EXACT_HEAP_SEGMENT_BYTES) {
        if (!pages_commit(part_base + given, bytes))
            continue;
        atomic_fetch_add_explicit(&pieces, 1, memory_order_relaxed);
        /* Release: pairs with the acquire in exact_heap_record_of; all below is readable. */
        atomic_store_explicit(&given_bytes, given + bytes, memory_order_release);
        ok = heap.mi_manage_os_memory_ex((void *)(part_base + given), bytes, false, false, true, -1,
                                         false, &arena);
        break;
    }
    atomic_store_explicit(&giving, false, memory_order_release);
    return ok;
}

bool exact_heap_start(const struct exact_heap_calls *calls, uintptr_t base, size_t bytes)
{
    heap = *calls;
    part_base = base;
    part_bytes = bytes;
    if (bytes < EXACT_HEAP_SEGMENT_BYTES || !give_piece())
        return false;
    heap_gate_open(heap.mi_thread_done);
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
        heap.mi_free(record);
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
        return zero ? heap.mi_zalloc_aligned_at(bytes, alignment, HEADER_BYTES)
                    : heap.mi_malloc_aligned_at(bytes, alignment, HEADER_BYTES);
    return zero ? heap.mi_zalloc(bytes) : heap.mi_malloc(bytes);
}

/* The heap has no room: another piece, or for a while nobody asks. */
static __attribute__((noinline)) void *alloc_with_more(size_t bytes, size_t alignment, bool zero)
{
    void *block = give_piece() ? block_alloc(bytes, alignment, zero) : NULL;
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
    if ((uintptr_t)p % 16 != 0 || offset < HEADER_BYTES ||
        offset >= atomic_load_explicit(&given_bytes, memory_order_acquire))
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
    heap.mi_free(record);
    errno = saved_errno;
    heap_gate_leave();
}

/* Reads only what does not change while the block lives; no need to be inside. */
size_t exact_heap_usable_size(const void *p)
{
    return heap.mi_usable_size(record_before(p)) - HEADER_BYTES;
}
