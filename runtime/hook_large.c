/* hook_large.c: large objects of the range, a slot of address space for each.
 *
 * Hook-safe: lock-free; no system call but mmap, mprotect, madvise and mremap.
 *
 * The data are cut into regions of equal size, one for each power of two of address space; a slot
 * is chosen twice as large as the object, so that an object that grows by realloc grows by mprotect
 * alone, and moves (by mremap, page tables only) once for each doubling. In place, mremap cannot
 * grow into a PROT_NONE reserve; and MREMAP_FIXED at each step costs 15 times what glibc's mremap
 * does.
 *
 * In small slots, up to 1 MiB, all pages are made usable together and stay so: neighbouring slots
 * then share one kernel mapping, of which a process may have 65,530 (vm.max_map_count) for all its
 * purposes. Larger objects get exactly their pages; their number is bounded for the same reason.
 *
 * Each class keeps two stacks of free slots: warm ones that still have pages, and cold ones. An
 * object gets a warm one if it can, also of the next larger class or of the one that just fits, as
 * page faults cost more than all the rest. The warm pages have a bound that follows the rule of
 * glibc's malloc for its dynamic mmap threshold (mallopt(3), M_MMAP_THRESHOLD), twice that, as a
 * slot's pages cannot be cut up for several objects. With eight objects of 512 KiB to 4 MiB
 * replaced at random, 7 % of the pages that the program touches take a fault; with glibc's bound
 * 30, and 47 if also none but slots of the object's own class are taken; with glibc itself 12. */
#include "runtime/hook_large.h"

#include <errno.h>
#include <string.h>

#include "runtime/hook_id_stack.h"
#include "runtime/hook_pages.h"
#include "runtime/hook_record.h"

enum {
    CLASSES_MAX = 32,
    WHOLE_SLOT_MAX_SHIFT = 20, /* slots up to this are made usable as a whole */
    SEPARATE_MAX = 8192,       /* slots with kernel mappings of their own; two or three for each */
    TRIM_BYTES = 64 << 10,     /* a shrinking object gives back no less */
    SPARE_FACTOR = 8,          /* a new object keeps up to so many times the pages it needs */
    WARM_FACTOR = 4            /* times the largest object freed: so much stays warm */
};
#define WARM_BLOCK_MAX (32ull << 20) /* DEFAULT_MMAP_THRESHOLD_MAX of glibc on 64 bit */
#define GROWTH_STEP_MAX (1ull << 20) /* pages made usable ahead of a growing object */

/* What only the slot's owner (its object, or whoever has taken it off a stack) reads and writes,
 * but for record.state. */
struct slot {
    struct range_record record;
    size_t start;  /* of the object in the slot, for alignment; whole pages */
    size_t usable; /* bytes from the slot's start that are usable */
    size_t dirty;  /* bytes from the slot's start that may be other than zero */
    _Atomic uint32_t link;
    uint32_t unused;
};
_Static_assert(sizeof(struct slot) == 64, "slot");

struct large_class {
    struct id_stack warm, cold; /* ids are slot + 1 */
    struct pages_growing slots; /* struct slot, by number */
    uintptr_t base;
    uint32_t limit;
    _Atomic uint32_t made;
    unsigned shift; /* of the slot's size */
};

/* classes[k] has slots of 1 << (LARGE_MIN_SLOT_SHIFT + k) bytes, but for the last, which may be
 * larger and takes what is left of the data. */
static struct large_class classes[CLASSES_MAX];
static unsigned class_count;
static uintptr_t data_base;
static size_t region_bytes; /* of each class but the last */
static _Atomic uint64_t warm_bytes;
static _Atomic uint64_t largest_freed;
static _Atomic int32_t separate_slots; /* with pages; a fork may leave it off by a few */
static _Atomic bool no_remap;          /* the kernel has no MREMAP_DONTUNMAP (before 5.7) */

/* --- geometry ------------------------------------------------------------------------------ */

static size_t slot_bytes(const struct large_class *class)
{
    return (size_t)1 << class->shift;
}

/* As many classes as have room for two slots each. Returns their number. */
static unsigned regions_of(size_t data_bytes, size_t *region)
{
    unsigned count = 0;
    for (unsigned n = 1; n < CLASSES_MAX; n++) {
        size_t largest = (size_t)1 << (LARGE_MIN_SLOT_SHIFT + n - 1);
        if (data_bytes / n < (n == 1 ? largest : 2 * largest))
            break;
        *region = data_bytes / n / largest * largest;
        count = n;
    }
    return count;
}

/* The remainder beyond the regions becomes one more class when that gives larger slots than the
 * regions have. */
static unsigned rest_shift(size_t rest, unsigned count)
{
    if (rest < 2 * LARGE_MIN_BYTES)
        return 0;
    unsigned shift = 63u - (unsigned)__builtin_clzll(rest / 2);
    return shift >= LARGE_MIN_SLOT_SHIFT + count ? shift : 0;
}

size_t large_meta_bytes(size_t data_bytes)
{
    size_t region = 0, bytes = 0;
    unsigned count = regions_of(data_bytes, &region);
    for (unsigned k = 0; k < count; k++)
        bytes += pages_up((region >> (LARGE_MIN_SLOT_SHIFT + k)) * sizeof(struct slot));
    return bytes + PAGES_SIZE; /* the last class has a few slots only */
}

static void class_start(unsigned shift, uintptr_t base, size_t bytes, uintptr_t *meta)
{
    struct large_class *class = &classes[class_count++];
    class->shift = shift;
    class->base = base;
    class->limit = (uint32_t)(bytes >> shift);
    class->slots.base = *meta;
    class->slots.limit_bytes = pages_up(class->limit * sizeof(struct slot));
    class->slots.step_bytes = PAGES_SIZE;
    *meta += class->slots.limit_bytes;
}

void large_start(uintptr_t meta, uintptr_t data, size_t data_bytes)
{
    data_base = data;
    unsigned count = regions_of(data_bytes, &region_bytes);
    for (unsigned k = 0; k < count; k++)
        class_start(LARGE_MIN_SLOT_SHIFT + k, data + k * region_bytes, region_bytes, &meta);
    size_t rest = data_bytes - count * region_bytes;
    unsigned shift = rest_shift(rest, count);
    if (shift != 0)
        class_start(shift, data + count * region_bytes, rest, &meta);
}

static struct slot *slot_at(const struct large_class *class, uint32_t index)
{
    return (struct slot *)class->slots.base + index;
}

static uintptr_t slot_base(const struct large_class *class, uint32_t index)
{
    return class->base + ((uintptr_t)index << class->shift);
}

/* The class and slot that p lies in; NULL where no slot is. */
static struct large_class *class_at(const void *p, uint32_t *index)
{
    if (class_count == 0)
        return NULL;
    size_t region = ((uintptr_t)p - data_base) / region_bytes;
    struct large_class *class = &classes[region < class_count ? region : class_count - 1];
    size_t number = ((uintptr_t)p - class->base) >> class->shift;
    if (number >= class->limit)
        return NULL;
    *index = (uint32_t)number;
    return class;
}

static bool class_is_whole(const struct large_class *class)
{
    return class->shift <= WHOLE_SLOT_MAX_SHIFT;
}

/* --- pages --------------------------------------------------------------------------------- */

/* Makes the slot's first bytes usable. */
static bool slot_grow(const struct large_class *class, uint32_t index, size_t bytes)
{
    struct slot *slot = slot_at(class, index);
    if (bytes <= slot->usable)
        return true;
    if (class_is_whole(class))
        bytes = slot_bytes(class);
    bool first = slot->usable == 0 && !class_is_whole(class);
    if (first &&
        atomic_fetch_add_explicit(&separate_slots, 1, memory_order_relaxed) >= SEPARATE_MAX)
        goto refused;
    if (!pages_commit(slot_base(class, index) + slot->usable, bytes - slot->usable))
        goto refused;
    slot->usable = bytes;
    return true;
refused:
    if (first)
        atomic_fetch_sub_explicit(&separate_slots, 1, memory_order_relaxed);
    return false;
}

/* Gives back the memory of the slot from the byte keep on, a multiple of the page. */
static void slot_shrink(const struct large_class *class, uint32_t index, size_t keep)
{
    struct slot *slot = slot_at(class, index);
    if (slot->usable <= keep)
        return;
    uintptr_t at = slot_base(class, index) + keep;
    if (!class_is_whole(class) && pages_decommit(at, slot->usable - keep)) {
        slot->usable = keep;
        if (keep == 0)
            atomic_fetch_sub_explicit(&separate_slots, 1, memory_order_relaxed);
        if (slot->dirty > keep)
            slot->dirty = keep;
    } else if (slot->dirty > keep && pages_clear(at, slot->dirty - keep)) {
        slot->dirty = keep;
    }
}

/* --- free slots ---------------------------------------------------------------------------- */

static bool slot_pop(struct large_class *class, struct id_stack *stack, uint32_t *index)
{
    for (;;) {
        uint64_t head = id_stack_head(stack);
        if (id_stack_id(head) == 0)
            return false;
        *index = id_stack_id(head) - 1;
        if (id_stack_pop_seen(stack, head, &slot_at(class, *index)->link))
            return true;
    }
}

static bool slot_make(struct large_class *class, uint32_t *index)
{
    uint32_t made = atomic_load_explicit(&class->made, memory_order_relaxed);
    do {
        if (made >= class->limit || !pages_grow(&class->slots, (made + 1ul) * sizeof(struct slot)))
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&class->made, &made, made + 1,
                                                    memory_order_relaxed, memory_order_relaxed));
    *index = made;
    return true;
}

static bool slot_take_warm(struct large_class *class, uint32_t *index)
{
    if (!slot_pop(class, &class->warm, index))
        return false;
    atomic_fetch_sub_explicit(&warm_bytes, slot_at(class, *index)->dirty, memory_order_relaxed);
    return true;
}

static bool slot_take_cold(struct large_class *class, uint32_t *index)
{
    return slot_pop(class, &class->cold, index) || slot_make(class, index);
}

/* May the slot keep its pages, dirty bytes of them? Counts them as warm when it may. */
static bool warm_admit(uint64_t bytes)
{
    if (bytes > WARM_BLOCK_MAX)
        return false;
    uint64_t largest = atomic_load_explicit(&largest_freed, memory_order_relaxed);
    while (bytes > largest &&
           !atomic_compare_exchange_weak_explicit(&largest_freed, &largest, bytes,
                                                  memory_order_relaxed, memory_order_relaxed))
        continue;
    uint64_t bound = WARM_FACTOR * (bytes > largest ? bytes : largest);
    if (atomic_fetch_add_explicit(&warm_bytes, bytes, memory_order_relaxed) + bytes <= bound)
        return true;
    atomic_fetch_sub_explicit(&warm_bytes, bytes, memory_order_relaxed);
    return false;
}

static void slot_give_back(struct large_class *class, uint32_t index)
{
    struct slot *slot = slot_at(class, index);
    if (slot->dirty != 0 && warm_admit(slot->dirty)) {
        id_stack_push(&class->warm, index + 1, &slot->link);
        return;
    }
    slot_shrink(class, index, 0);
    id_stack_push(&class->cold, index + 1, &slot->link);
}

/* --- objects ------------------------------------------------------------------------------- */

/* Where in a slot the object begins. */
static size_t start_in_slot(const struct large_class *class, uint32_t index, size_t alignment)
{
    return -slot_base(class, index) & (alignment - 1);
}

typedef bool slot_taker(struct large_class *class, uint32_t *index);

/* Tries one class; *size_out is the number of bytes from the slot's start that the object needs. */
static bool class_alloc(struct large_class *class, slot_taker *take, size_t size, size_t alignment,
                        uint32_t *index, size_t *size_out)
{
    if (!take(class, index))
        return false;
    size_t start = start_in_slot(class, *index, alignment);
    size_t need;
    if (__builtin_add_overflow(start, pages_up(size), &need) || need > slot_bytes(class) ||
        !slot_grow(class, *index, need)) {
        slot_give_back(class, *index);
        return false;
    }
    slot_at(class, *index)->start = start;
    *size_out = need;
    return true;
}

/* The classes in the order they are tried for an object of bytes, padding included: twice as large,
 * larger, and at last the one that just fits. */
static struct large_class *class_for(size_t bytes, unsigned step)
{
    unsigned fits = 0;
    while (fits < class_count && slot_bytes(&classes[fits]) < bytes)
        fits++;
    unsigned roomy = fits;
    while (roomy < class_count && slot_bytes(&classes[roomy]) / 2 < bytes)
        roomy++;
    if (roomy + step < class_count)
        return &classes[roomy + step];
    unsigned tight = fits + (step - (class_count - roomy));
    return tight < roomy ? &classes[tight] : NULL;
}

/* The class and index of a slot for bytes, padding included, with *end as class_alloc gives it.
 * First of all a warm one, which may be of the next larger class, or just fit. NULL when there is
 * none. */
static struct large_class *find_slot(size_t bytes, size_t size, size_t alignment, uint32_t *index,
                                     size_t *end)
{
    struct large_class *class;
    for (unsigned step = 0; (class = class_for(bytes, step)) != NULL; step++)
        if ((step <= 1 || slot_bytes(class) / 2 < bytes) &&
            class_alloc(class, slot_take_warm, size, alignment, index, end))
            return class;
    for (unsigned step = 0; (class = class_for(bytes, step)) != NULL; step++)
        if (class_alloc(class, slot_take_cold, size, alignment, index, end))
            return class;
    return NULL;
}

void *large_alloc(size_t size, size_t alignment, bool zero, struct range_record **record)
{
    size_t padding = alignment > PAGES_SIZE ? alignment : 0, end;
    uint32_t index;
    if (size > SIZE_MAX / 4 || alignment > SIZE_MAX / 4)
        return NULL;
    struct large_class *class = find_slot(pages_up(size) + padding, size, alignment, &index, &end);
    if (class == NULL)
        return NULL;
    struct slot *slot = slot_at(class, index);
    void *p = (void *)(slot_base(class, index) + slot->start);
    if (slot->dirty / SPARE_FACTOR > end)
        slot_shrink(class, index, end);
    if (zero && slot->dirty > slot->start) {
        size_t old = slot->dirty - slot->start;
        memset(p, 0, old < size ? old : size);
    }
    if (slot->dirty < end)
        slot->dirty = end;
    record_start(&slot->record, p, size);
    *record = &slot->record;
    return p;
}

struct range_record *large_record_of(const void *p)
{
    uint32_t index;
    const struct large_class *class = class_at(p, &index);
    if (class == NULL ||
        !pages_usable((struct pages_growing *)&class->slots, (index + 1ul) * sizeof(struct slot)))
        return NULL;
    struct slot *slot = slot_at(class, index);
    return record_is_live(&slot->record, p) ? &slot->record : NULL;
}

void large_free(const void *p, struct range_record *record)
{
    uint32_t index;
    struct large_class *class = class_at(p, &index);
    record_end(record);
    slot_give_back(class, index);
}

size_t large_usable_size(const struct range_record *record)
{
    return pages_up(record->size != 0 ? record->size : 1);
}

bool large_resize(const void *p, struct range_record *record, size_t size)
{
    uint32_t index;
    struct large_class *class = class_at(p, &index);
    struct slot *slot = slot_at(class, index);
    if (size > slot_bytes(class) - slot->start)
        return false;
    size_t end = slot->start + pages_up(size);
    if (end > slot->usable) {
        /* An eighth ahead, or an object that grows by a page at a time calls for each page. */
        size_t ahead = size / 8 < GROWTH_STEP_MAX ? size / 8 : GROWTH_STEP_MAX;
        size_t wish = slot->start + pages_up(size + ahead);
        if (wish > slot_bytes(class))
            wish = slot_bytes(class);
        if (!slot_grow(class, index, wish) && !slot_grow(class, index, end))
            return false;
    }
    if (slot->dirty > end && slot->dirty - end >= TRIM_BYTES)
        slot_shrink(class, index, end);
    if (slot->dirty < end)
        slot->dirty = end;
    record->size = size;
    return true;
}

enum remap_answer { REMAP_DONE, REMAP_UNKNOWN, REMAP_LOST };

/* Moves the pages of [from, from + bytes) to `to`; from stays mapped, empty. REMAP_UNKNOWN: the
 * kernel does not know MREMAP_DONTUNMAP, nothing has happened. REMAP_LOST: the kernel unmaps the
 * destination before it looks at the rest, so `to` may be a hole, or have been one that somebody
 * else's mapping has filled; it must not be used again. A hole is closed at once. */
static enum remap_answer remap(uintptr_t from, uintptr_t to, size_t bytes)
{
    long moved = raw_syscall5(SYS_mremap, (long)from, (long)bytes, (long)bytes,
                              MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, (long)to);
    if (!raw_failed(moved))
        return REMAP_DONE;
    if (moved == -EINVAL)
        return REMAP_UNKNOWN;
    raw_syscall6(SYS_mmap, (long)to, (long)bytes, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    return REMAP_LOST;
}

/* The old object's slot, whose pages have gone to another one. */
static void slot_leave(struct large_class *class, uint32_t index)
{
    struct slot *slot = slot_at(class, index);
    record_end(&slot->record);
    slot->dirty = slot->usable;
    slot_shrink(class, index, 0);
    id_stack_push(&class->cold, index + 1, &slot->link);
}

void *large_move(void *p, struct range_record **record, size_t size)
{
    uint32_t from_index, to_index;
    struct large_class *from = class_at(p, &from_index);
    if (class_is_whole(from) || slot_at(from, from_index)->start != 0 || size > SIZE_MAX / 4 ||
        atomic_load_explicit(&no_remap, memory_order_relaxed))
        return NULL;
    struct large_class *to = class_for(pages_up(size), 0);
    size_t end;
    if (to == NULL || class_is_whole(to) || to->shift <= from->shift ||
        !class_alloc(to, slot_take_cold, size, 1, &to_index, &end))
        return NULL;
    void *moved = (void *)slot_base(to, to_index);
    enum remap_answer answer = remap((uintptr_t)p, (uintptr_t)moved, pages_up((*record)->size));
    if (answer == REMAP_UNKNOWN) {
        atomic_store_explicit(&no_remap, true, memory_order_relaxed);
        slot_give_back(to, to_index);
    }
    if (answer != REMAP_DONE)
        return NULL;
    struct slot *slot = slot_at(to, to_index);
    if (slot->dirty < end)
        slot->dirty = end;
    struct range_record old = **record;
    slot_leave(from, from_index);
    record_start(&slot->record, moved, size);
    slot->record.weight_q16 = old.weight_q16;
    slot->record.stack = old.stack;
    slot->record.born = old.born;
    *record = &slot->record;
    return moved;
}

uint64_t large_overhead_bytes(void)
{
    uint64_t bytes = 0;
    for (unsigned k = 0; k < class_count; k++)
        bytes += pages_up(sizeof(struct slot) *
                          (uint64_t)atomic_load_explicit(&classes[k].made, memory_order_relaxed));
    return bytes;
}
