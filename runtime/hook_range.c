/* hook_range.c: the address range that recorded objects live in: its reserve, its parts, and which
 * of them holds an object.
 *
 * Hook-safe, but for range_use_mimalloc. One mapping, cut once:
 *
 *     slab records | large records | slabs | large slots | private mimalloc
 *                                  ^ range_base                           ^ range_end
 *
 * Where the private mimalloc serves what is not sampled, its part is no longer of the range, and
 * range_end is where that begins. The records are outside the range proper: no object can be there.
 * Which part holds p is arithmetic, so freeing needs no table. What one part has no room for, the
 * next one takes. */
#include "runtime/hook_range.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

#include "runtime/hook_exact_heap.h"
#include "runtime/hook_heap_gate.h"
#include "runtime/hook_large.h"
#include "runtime/hook_mimalloc.h"
#include "runtime/hook_pages.h"
#include "runtime/hook_record.h"
#include "runtime/hook_slab.h"

#define RESERVE_BYTES (1ull << 40)
/* Below everything that a position-independent program's allocator hands out (program, brk heap and
 * mappings begin at 0x2aaaaaaaa000 or far above), above another program's brk heap: see
 * range_holds. */
#define RESERVE_LOWEST (32ull << 40)
#define RESERVE_MIN_BYTES (1ull << 20)
#define RESERVE_ROUND (64ull << 10)
#define EXACT_FROM_BYTES (512ull << 20) /* below, mimalloc would have a handful of segments */
#define EXACT_MAX_BYTES (512ull << 10)  /* larger objects get slots, which grow without copying */
#define HUGE_PAGE_BYTES (2ull << 20)

uintptr_t range_base;
uintptr_t range_end;

static uintptr_t large_base, exact_base;
static size_t exact_bytes;
static bool exact_ready;
static bool reserved;

/* --- the reserve --------------------------------------------------------------------------- */

/* A number of /proc/self/statm, in pages there, in bytes. 0: unknown. */
static uint64_t memory_used(unsigned field)
{
    char text[128];
    long file =
        raw_syscall4(SYS_openat, AT_FDCWD, (long)"/proc/self/statm", O_RDONLY | O_CLOEXEC, 0);
    if (raw_failed(file))
        return 0;
    long length = raw_syscall3(SYS_read, file, (long)text, sizeof text);
    raw_syscall1(SYS_close, file);
    uint64_t pages = 0;
    for (long i = 0; i < length && (text[i] != ' ' || field-- != 0); i++)
        pages = text[i] >= '0' && text[i] <= '9' ? pages * 10 + (uint64_t)(text[i] - '0') : 0;
    return pages * PAGES_SIZE;
}

/* An eighth of what the limit leaves; RESERVE_BYTES where there is none. field: of statm, what
 * counts against it. */
static uint64_t share_of(int resource, unsigned field)
{
    struct rlimit limit;
    if (raw_syscall4(SYS_prlimit64, 0, resource, 0, (long)&limit) != 0 ||
        limit.rlim_cur == RLIM_INFINITY)
        return RESERVE_BYTES;
    uint64_t used = memory_used(field);
    if (used == 0)
        used = limit.rlim_cur / 2;
    uint64_t left = used < limit.rlim_cur ? limit.rlim_cur - used : 0;
    return left / 8 / RESERVE_ROUND * RESERVE_ROUND;
}

/* How much to reserve: 1 TiB, or an eighth of what RLIMIT_AS or RLIMIT_DATA leaves. The latter
 * counts only what has been made usable, but that comes back late or never: objects have room to
 * grow, and pages stay for the next one. */
static uint64_t reserve_bytes(void)
{
    enum { STATM_SIZE = 0, STATM_DATA = 5 };
    uint64_t space = share_of(RLIMIT_AS, STATM_SIZE);
    uint64_t data = share_of(RLIMIT_DATA, STATM_DATA);
    uint64_t least = space < data ? space : data;
    return least < RESERVE_BYTES ? least : RESERVE_BYTES;
}

/* Where the reserve would best lie: as random, up to a huge page, as the place of this library. */
static uintptr_t reserve_hint(void)
{
    return RESERVE_LOWEST + ((uintptr_t)&range_base & ((1ull << 40) - 1) & ~(HUGE_PAGE_BYTES - 1));
}

struct range_sizes {
    size_t slab, large, exact;
};

static struct range_sizes sizes_of(uint64_t bytes)
{
    bool roomy = bytes >= EXACT_FROM_BYTES;
    struct range_sizes sizes;
    sizes.slab = (size_t)(roomy ? bytes / 16 : bytes / 2) / SLAB_CHUNK_BYTES * SLAB_CHUNK_BYTES;
    sizes.exact = roomy ? bytes / 4 / MIMALLOC_SEGMENT_BYTES * MIMALLOC_SEGMENT_BYTES : 0;
    size_t others = slab_meta_bytes(sizes.slab) + sizes.slab + sizes.exact;
    if (roomy)
        others += 2 * MIMALLOC_SEGMENT_BYTES; /* lost to alignment */
    size_t rest = (bytes - others) & ~(PAGES_SIZE - 1);
    size_t meta = large_meta_bytes(rest);
    sizes.large = rest > meta ? rest - meta : 0;
    /* Less data can be cut into fewer regions, whose records take more. */
    while (sizes.large > 0 && sizes.large + large_meta_bytes(sizes.large) > rest)
        sizes.large -= PAGES_SIZE;
    return sizes;
}

static uintptr_t align_up(uintptr_t at, uintptr_t alignment)
{
    return (at + alignment - 1) & ~(alignment - 1);
}

static void no_huge_pages(uintptr_t from, uintptr_t to)
{
    if (from < to)
        raw_syscall3(SYS_madvise, (long)from, (long)(to - from), MADV_NOHUGEPAGE);
}

/* Cuts [at, at + bytes) into the parts. */
static void range_lay_out(uintptr_t at, uint64_t bytes)
{
    struct range_sizes sizes = sizes_of(bytes);
    bool roomy = sizes.exact != 0;
    uintptr_t slab_meta = at;
    uintptr_t large_meta = slab_meta + slab_meta_bytes(sizes.slab);
    uintptr_t slab = large_meta + large_meta_bytes(sizes.large);
    /* On a huge page's boundary, mremap moves large objects by whole page tables. */
    large_base = align_up(slab + sizes.slab, roomy ? HUGE_PAGE_BYTES : PAGES_SIZE);
    exact_base = align_up(large_base + sizes.large, roomy ? MIMALLOC_SEGMENT_BYTES : PAGES_SIZE);
    exact_bytes = sizes.exact;
    slab_start(slab_meta, slab, sizes.slab);
    large_start(large_meta, large_base, sizes.large);
    /* A chunk in use is often one page of 16; huge pages would make all resident. */
    no_huge_pages(at, large_base);
    range_base = slab;
    range_end = exact_base + exact_bytes;
}

bool range_reserve(void)
{
    if (reserved)
        return range_end != 0;
    reserved = true;
    for (uint64_t bytes = reserve_bytes(); bytes >= RESERVE_MIN_BYTES;
         bytes = bytes / 2 / RESERVE_ROUND * RESERVE_ROUND) {
        uintptr_t at = pages_reserve(reserve_hint(), bytes);
        if (at == 0)
            continue;
        range_lay_out(at, bytes);
        return true;
    }
    return false;
}

bool range_use_mimalloc(const char *path, bool users_options)
{
    struct mimalloc_calls calls;
    struct mimalloc_wishes wishes;
    if (exact_ready || exact_bytes == 0)
        return exact_ready;
    /* A thread's part of mimalloc's 32 MiB is often a few pages. */
    no_huge_pages(exact_base, exact_base + exact_bytes);
    exact_ready = heap_gate_start() && mimalloc_load(path, users_options, &calls, &wishes) &&
                  exact_heap_start(&calls, exact_base, exact_bytes, &wishes);
    return exact_ready;
}

bool range_mimalloc_part(uintptr_t *base, size_t *bytes)
{
    *base = exact_base;
    *bytes = exact_bytes;
    return exact_bytes != 0;
}

void range_leave_mimalloc_part(void)
{
    range_end = exact_base;
}

uint64_t range_overhead_bytes(void)
{
    return slab_overhead_bytes() + large_overhead_bytes() + heap_gate_overhead_bytes();
}

/* --- objects ------------------------------------------------------------------------------- */

enum holder { HOLDER_SLAB, HOLDER_LARGE, HOLDER_EXACT };

static enum holder holder_of(const void *p)
{
    uintptr_t at = (uintptr_t)p;
    return at >= exact_base ? HOLDER_EXACT : at >= large_base ? HOLDER_LARGE : HOLDER_SLAB;
}

static void *small_alloc(size_t size, size_t alignment, bool zero, struct range_record **record)
{
    void *p = slab_alloc(size, alignment, record);
    if (p != NULL && zero)
        memset(p, 0, size);
    return p;
}

/* size is at least 1 here. */
static void *holders_alloc(size_t size, size_t alignment, bool zero, struct range_record **record)
{
    bool exact = exact_ready && alignment <= EXACT_HEAP_MAX_ALIGNMENT;
    void *p = NULL;
    if (exact && size < EXACT_MAX_BYTES)
        p = exact_heap_alloc(size, alignment, zero, record);
    if (p == NULL && size <= SLAB_MAX_BYTES && alignment <= SLAB_MAX_ALIGNMENT)
        p = small_alloc(size, alignment, zero, record);
    if (p == NULL)
        p = large_alloc(size, alignment, zero, record);
    if (p == NULL && exact && size >= EXACT_MAX_BYTES && size < exact_bytes)
        p = exact_heap_alloc(size, alignment, zero, record);
    return p;
}

void *range_alloc(size_t size, size_t alignment, bool zero, struct range_record **record)
{
    if (range_end == 0)
        return NULL;
    void *p = holders_alloc(size != 0 ? size : 1, alignment, zero, record);
    if (p != NULL)
        (*record)->size = size;
    return p;
}

struct range_record *range_record_of(const void *p)
{
    if (!range_holds(p))
        return NULL;
    switch (holder_of(p)) {
    case HOLDER_SLAB:
        return slab_record_of(p);
    case HOLDER_LARGE:
        return large_record_of(p);
    case HOLDER_EXACT:
        break;
    }
    return exact_ready ? exact_heap_record_of(p) : NULL;
}

bool range_begin_free(struct range_record *record)
{
    return record_begin_free(record);
}

void range_free(void *p, struct range_record *record)
{
    switch (holder_of(p)) {
    case HOLDER_SLAB:
        slab_free(p, record);
        break;
    case HOLDER_LARGE:
        large_free(p, record);
        break;
    case HOLDER_EXACT:
        exact_heap_free(p, record);
        break;
    }
}

size_t range_usable_size(const void *p, const struct range_record *record)
{
    switch (holder_of(p)) {
    case HOLDER_SLAB:
        return slab_usable_size(p);
    case HOLDER_LARGE:
        return large_usable_size(record);
    case HOLDER_EXACT:
        break;
    }
    return exact_heap_usable_size(p);
}

/* May an object with this much room stay where it is when it becomes size bytes? Not when half of
 * the room would be wasted. */
static bool stays(size_t usable, size_t size)
{
    return size <= usable && size >= usable / 2;
}

/* Another place, by copying; the old object is freed when that has worked. */
static void *copy_elsewhere(void *p, struct range_record **record, size_t size)
{
    struct range_record *old = *record, *new_record;
    void *moved = range_alloc(size, 16, false, &new_record);
    if (moved == NULL)
        return NULL;
    size_t usable = range_usable_size(p, old);
    memcpy(moved, p, usable < size ? usable : size);
    new_record->weight_q16 = old->weight_q16;
    new_record->stack = old->stack;
    if (record_begin_free(old))
        range_free(p, old);
    *record = new_record;
    return moved;
}

void *range_realloc(void *p, struct range_record **record, size_t size)
{
    size_t least = size != 0 ? size : 1;
    bool large = holder_of(p) == HOLDER_LARGE;
    size_t usable = range_usable_size(p, *record);
    bool in_place =
        large ? least > SLAB_MAX_BYTES && large_resize(p, *record, least) : stays(usable, least);
    void *moved = in_place ? p : NULL;
    if (moved == NULL && large && least > usable)
        moved = large_move(p, record, least);
    if (moved == NULL)
        moved = copy_elsewhere(p, record, size);
    if (moved == NULL && least <= usable)
        moved = p; /* it could have had a smaller place, but there is none */
    if (moved != NULL)
        (*record)->size = size;
    return moved;
}
