/* hook_slab.c: small objects of the range, in chunks of equal slots.
 *
 * Hook-safe: lock-free; no system call but mprotect and madvise.
 *
 * The data are cut into chunks of 64 KiB; a chunk belongs to one size class and has up to 256
 * slots. Descriptor and records of a chunk are found by arithmetic, so nothing stands in front of
 * what the program writes to. A chunk's word holds its class, its live count and flags, and moves
 * by compare and swap:
 *
 *     allocate: live + 1 (the chunk cannot be cleared or change its class now), then set a free bit
 *     free:     clear the bit, then live - 1
 *
 * so there is always a free bit for whoever has raised live, and a thread that stops between the
 * two steps for ever (fork, in the child) costs one slot and blocks nobody. Each class has a stack
 * of chunks that may have room; a chunk is in a stack exactly when its LISTED flag is set or its
 * popper is about to clear it. When a chunk becomes empty and enough others are, its pages go back
 * to the kernel; CLEARING keeps allocators out meanwhile.
 *
 * Size classes in steps of a quarter of a power of two, as in jemalloc and mimalloc. */
#include "runtime/hook_slab.h"

#include "runtime/hook_id_stack.h"
#include "runtime/hook_pages.h"
#include "runtime/hook_record.h"

enum {
    CLASS_COUNT = 40,
    FINE_CLASSES = 8, /* 16, 32, ... 128 */
    SLOTS_MAX = 256,  /* a chunk of the finest class uses one page of data */
    SLOT_WORDS = SLOTS_MAX / 64,
    RECORDS_BYTES = SLOTS_MAX * (int)sizeof(struct range_record),
    EMPTY_KEPT = 32,     /* empty chunks that keep their pages, for all classes together */
    LIST_TRIES = 16,     /* chunks looked at before a new one is made */
    PRESSURE_SCAN = 512, /* chunks looked at when no new one can be had */
    STEP_CHUNKS = 16,
    STEP_FROM_BYTES = 64 << 20 /* smaller ranges grow chunk by chunk */
};

#define WORD_CLASS 0xffull /* class + 1; 0: not yet given to a class */
#define WORD_LISTED (1ull << 8)
#define WORD_CLEARING (1ull << 9)
#define WORD_CLEAN (1ull << 10) /* empty, pages given back */
#define WORD_LIVE_SHIFT 16
#define WORD_LIVE_ONE (1ull << WORD_LIVE_SHIFT)

struct chunk {
    _Atomic uint64_t word;
    _Atomic uint64_t bits[SLOT_WORDS]; /* 1: slot taken */
    _Atomic uint32_t link;
    uint32_t unused[5];
};
_Static_assert(sizeof(struct chunk) == 64, "chunk");

struct slab_class {
    struct id_stack room; /* ids are chunk + 1 */
    _Atomic uint32_t chunks;
    uint32_t bytes;      /* of a slot */
    uint32_t capacity;   /* slots a chunk */
    uint32_t reciprocal; /* 2^32 / bytes, rounded up; exact for offsets within a chunk */
};

static struct slab_class classes[CLASS_COUNT];
static struct pages_growing chunks_area, records_area, data_area;
static uint32_t chunk_limit;
static _Atomic uint32_t chunks_made;
static _Atomic uint32_t scan_hint;
static _Atomic int32_t empty_chunks; /* that keep pages; a fork may leave it off by a few */

/* --- geometry ------------------------------------------------------------------------------ */

static uint32_t class_bytes(unsigned class)
{
    if (class < FINE_CLASSES)
        return 16 * (class + 1);
    unsigned doubling = (class - FINE_CLASSES) / 4, quarter = (class - FINE_CLASSES) % 4;
    return (128u << doubling) + (32u << doubling) * (quarter + 1);
}

/* The smallest class whose slots hold size bytes, 1 to SLAB_MAX_BYTES. */
static unsigned class_for(size_t size)
{
    if (size <= 128)
        return (unsigned)((size - 1) / 16);
    unsigned doubling = 63u - (unsigned)__builtin_clzll(size - 1) - 7;
    return FINE_CLASSES + doubling * 4 +
           (unsigned)((size - 1 - (128ull << doubling)) >> (doubling + 5));
}

/* The same for objects at a multiple of alignment: chunks begin at a multiple of the page (all that
 * the range promises), so a slot does when its class's size is one. */
static unsigned class_for_aligned(size_t size, size_t alignment)
{
    unsigned class = class_for(size < alignment ? alignment : size);
    while (classes[class].bytes % alignment != 0)
        class ++;
    return class;
}

static struct chunk *chunk_at(uint32_t index)
{
    return (struct chunk *)chunks_area.base + index;
}

static struct range_record *record_at(uint32_t index, uint32_t slot)
{
    return (struct range_record *)(records_area.base + (size_t)index * RECORDS_BYTES) + slot;
}

static uintptr_t data_at(uint32_t index)
{
    return data_area.base + (size_t)index * SLAB_CHUNK_BYTES;
}

static uint32_t chunk_index(const void *p)
{
    return (uint32_t)(((uintptr_t)p - data_area.base) / SLAB_CHUNK_BYTES);
}

static uint32_t slot_in_chunk(const void *p, const struct slab_class *class)
{
    uint64_t offset = ((uintptr_t)p - data_area.base) % SLAB_CHUNK_BYTES;
    return (uint32_t)(offset * class->reciprocal >> 32);
}

static struct slab_class *class_of_word(uint64_t word)
{
    return &classes[(word & WORD_CLASS) - 1];
}

static uint32_t live_of_word(uint64_t word)
{
    return (uint32_t)(word >> WORD_LIVE_SHIFT);
}

size_t slab_meta_bytes(size_t data_bytes)
{
    size_t chunks = data_bytes / SLAB_CHUNK_BYTES;
    return pages_up(chunks * sizeof(struct chunk)) + chunks * RECORDS_BYTES;
}

void slab_start(uintptr_t meta, uintptr_t data, size_t data_bytes)
{
    size_t chunks = data_bytes / SLAB_CHUNK_BYTES;
    size_t step = data_bytes >= STEP_FROM_BYTES ? STEP_CHUNKS : 1;
    chunk_limit = (uint32_t)chunks;
    chunks_area = (struct pages_growing){.base = meta,
                                         .limit_bytes = pages_up(chunks * sizeof(struct chunk)),
                                         .step_bytes = PAGES_SIZE};
    records_area = (struct pages_growing){.base = meta + chunks_area.limit_bytes,
                                          .limit_bytes = chunks * RECORDS_BYTES,
                                          .step_bytes = step * RECORDS_BYTES};
    data_area = (struct pages_growing){.base = data,
                                       .limit_bytes = chunks * SLAB_CHUNK_BYTES,
                                       .step_bytes = step * SLAB_CHUNK_BYTES};
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        uint32_t bytes = class_bytes(class);
        classes[class].bytes = bytes;
        classes[class].capacity =
            SLAB_CHUNK_BYTES / bytes < SLOTS_MAX ? SLAB_CHUNK_BYTES / bytes : SLOTS_MAX;
        classes[class].reciprocal = (uint32_t)(((1ull << 32) + bytes - 1) / bytes);
    }
}

/* --- finding a chunk with room ------------------------------------------------------------- */

enum chunk_answer { CHUNK_TAKEN, CHUNK_FULL, CHUNK_OTHER };

/* Raises the live count of a chunk of this class. */
static enum chunk_answer chunk_take(uint32_t index, unsigned class)
{
    struct chunk *chunk = chunk_at(index);
    uint64_t word = atomic_load_explicit(&chunk->word, memory_order_acquire), next;
    do {
        if ((word & WORD_CLASS) != class + 1 || (word & WORD_CLEARING))
            return CHUNK_OTHER;
        if (live_of_word(word) >= classes[class].capacity)
            return CHUNK_FULL;
        next = (word + WORD_LIVE_ONE) & ~WORD_CLEAN;
        /* Acquire: pairs with the release in chunk_release; what the last owner did is over. */
    } while (!atomic_compare_exchange_weak_explicit(&chunk->word, &word, next, memory_order_acq_rel,
                                                    memory_order_acquire));
    if (live_of_word(word) == 0 && !(word & WORD_CLEAN))
        atomic_fetch_sub_explicit(&empty_chunks, 1, memory_order_relaxed);
    return CHUNK_TAKEN;
}

/* After a chunk was popped: it is in no stack, so LISTED goes, unless it has got room meanwhile or
 * has changed its class: then back it goes, into the stack of its class. */
static void chunk_unlist(uint32_t index)
{
    struct chunk *chunk = chunk_at(index);
    uint64_t word = atomic_load_explicit(&chunk->word, memory_order_acquire);
    do {
        if (live_of_word(word) < class_of_word(word)->capacity) {
            id_stack_push(&class_of_word(word)->room, index + 1, &chunk->link);
            return;
        }
    } while (!atomic_compare_exchange_weak_explicit(&chunk->word, &word, word & ~WORD_LISTED,
                                                    memory_order_acq_rel, memory_order_acquire));
}

/* A chunk from the class's stack, its live count raised; false when there is none. */
static bool class_take(unsigned class, uint32_t *index)
{
    struct id_stack *room = &classes[class].room;
    for (int tries = 0; tries < LIST_TRIES; tries++) {
        uint64_t head = id_stack_head(room);
        if (id_stack_id(head) == 0)
            return false;
        *index = id_stack_id(head) - 1;
        struct chunk *chunk = chunk_at(*index);
        enum chunk_answer answer = chunk_take(*index, class);
        if (answer == CHUNK_TAKEN)
            return true;
        uint64_t word = atomic_load_explicit(&chunk->word, memory_order_relaxed);
        if (answer == CHUNK_OTHER && (word & WORD_CLASS) == class + 1)
            return false; /* being cleared: a new chunk is quicker than to wait */
        if (id_stack_pop_seen(room, head, &chunk->link))
            chunk_unlist(*index);
    }
    return false;
}

static bool chunk_make_usable(uint32_t index)
{
    size_t count = (size_t)index + 1;
    return pages_grow(&chunks_area, count * sizeof(struct chunk)) &&
           pages_grow(&records_area, count * RECORDS_BYTES) &&
           pages_grow(&data_area, count * SLAB_CHUNK_BYTES);
}

static bool chunk_make(unsigned class, uint32_t *index)
{
    uint32_t made = atomic_load_explicit(&chunks_made, memory_order_relaxed);
    do {
        if (made >= chunk_limit)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&chunks_made, &made, made + 1,
                                                    memory_order_relaxed, memory_order_relaxed));
    if (!chunk_make_usable(made)) {
        uint32_t expected = made + 1; /* lost when another came after: its number is not reused */
        atomic_compare_exchange_strong_explicit(&chunks_made, &expected, made, memory_order_relaxed,
                                                memory_order_relaxed);
        return false;
    }
    struct chunk *chunk = chunk_at(made);
    /* Release: pairs with the acquire in slab_record_of. */
    atomic_store_explicit(&chunk->word, (class + 1) | WORD_LISTED | WORD_LIVE_ONE,
                          memory_order_release);
    atomic_fetch_add_explicit(&classes[class].chunks, 1, memory_order_relaxed);
    id_stack_push(&classes[class].room, made + 1, &chunk->link);
    *index = made;
    return true;
}

/* The four classes up to a power of two (two while they are fine) share the chunks of the largest
 * until these are full, so that a program with few samples of many sizes does not pay two pages for
 * each size. */
static unsigned sharing_class(unsigned class)
{
    return class < FINE_CLASSES ? class | 1 : class | 3;
}

static bool has_chunks(unsigned class)
{
    return atomic_load_explicit(&classes[class].chunks, memory_order_relaxed) != 0;
}

/* A slot of the sharing class, for a class that has no chunk yet; made when there is none at all.
 */
static bool shared_take(unsigned class, uint32_t *index)
{
    unsigned sharing = sharing_class(class);
    if (sharing == class || has_chunks(class))
        return false;
    return class_take(sharing, index) || (!has_chunks(sharing) && chunk_make(sharing, index));
}

/* An empty chunk of any class becomes one of ours; its link stays where it is, and whoever pops it
 * from the old class's stack puts it into ours. */
static bool chunk_convert(uint32_t index, uint64_t word, unsigned class)
{
    if (live_of_word(word) != 0 || (word & WORD_CLEARING))
        return false;
    uint64_t next = (class + 1) | (word & WORD_LISTED) | WORD_LIVE_ONE;
    if (!atomic_compare_exchange_strong_explicit(&chunk_at(index)->word, &word, next,
                                                 memory_order_acq_rel, memory_order_relaxed))
        return false;
    if (!(word & WORD_CLEAN))
        atomic_fetch_sub_explicit(&empty_chunks, 1, memory_order_relaxed);
    return true;
}

/* No new chunk can be had: any chunk that is empty, or whose slots are large enough and not more
 * than eight times too large. */
static bool pressure_take(unsigned class, size_t alignment, uint32_t *index)
{
    uint32_t made = atomic_load_explicit(&chunks_made, memory_order_relaxed);
    size_t usable = atomic_load_explicit(&chunks_area.usable_bytes, memory_order_acquire) /
                    sizeof(struct chunk);
    if (made > usable)
        made = (uint32_t)usable;
    if (made == 0)
        return false;
    uint32_t from = atomic_load_explicit(&scan_hint, memory_order_relaxed) % made;
    for (uint32_t i = 0; i < made && i < PRESSURE_SCAN; i++) {
        *index = (from + i) % made;
        uint64_t word = atomic_load_explicit(&chunk_at(*index)->word, memory_order_acquire);
        if ((word & WORD_CLASS) == 0)
            continue;
        unsigned other = (unsigned)(word & WORD_CLASS) - 1;
        bool fits = other >= class && classes[other].bytes <= 8 * classes[class].bytes &&
                    classes[other].bytes % alignment == 0;
        if ((fits && chunk_take(*index, other) == CHUNK_TAKEN) ||
            chunk_convert(*index, word, class)) {
            atomic_store_explicit(&scan_hint, *index, memory_order_relaxed);
            return true;
        }
    }
    atomic_store_explicit(&scan_hint, from + PRESSURE_SCAN, memory_order_relaxed);
    return false;
}

/* --- slots --------------------------------------------------------------------------------- */

/* Sets a free bit; there is one for a caller that has raised live. */
static uint32_t slot_take(struct chunk *chunk, uint32_t capacity)
{
    for (;;) {
        for (uint32_t i = 0; i * 64 < capacity; i++) {
            uint32_t in_word = capacity - i * 64;
            uint64_t valid = in_word < 64 ? (1ull << in_word) - 1 : ~0ull;
            uint64_t taken = atomic_load_explicit(&chunk->bits[i], memory_order_relaxed);
            uint64_t free_bits = ~taken & valid;
            if (free_bits == 0)
                continue;
            uint64_t bit = free_bits & -free_bits;
            /* Acquire: pairs with the release in slab_free; the old record is over. */
            if (!(atomic_fetch_or_explicit(&chunk->bits[i], bit, memory_order_acq_rel) & bit))
                return i * 64 + (uint32_t)__builtin_ctzll(bit);
        }
    }
}

void *slab_alloc(size_t size, size_t alignment, struct range_record **record)
{
    unsigned class = alignment > 16 ? class_for_aligned(size, alignment) : class_for(size);
    uint32_t index;
    if (!class_take(class, &index) && !(alignment <= 16 && shared_take(class, &index)) &&
        !chunk_make(class, &index) && !pressure_take(class, alignment, &index))
        return NULL;
    struct chunk *chunk = chunk_at(index);
    uint64_t word = atomic_load_explicit(&chunk->word, memory_order_relaxed);
    const struct slab_class *of = class_of_word(word); /* cannot change while we count as live */
    uint32_t slot = slot_take(chunk, of->capacity);
    void *p = (void *)(data_at(index) + (size_t)slot * of->bytes);
    *record = record_at(index, slot);
    record_start(*record, p, size);
    return p;
}

struct range_record *slab_record_of(const void *p)
{
    uint32_t index = chunk_index(p);
    if (!pages_usable(&chunks_area, ((size_t)index + 1) * sizeof(struct chunk)))
        return NULL;
    /* Acquire: pairs with the release in chunk_make. */
    uint64_t word = atomic_load_explicit(&chunk_at(index)->word, memory_order_acquire);
    if ((word & WORD_CLASS) == 0)
        return NULL;
    const struct slab_class *class = class_of_word(word);
    uint32_t slot = slot_in_chunk(p, class);
    if (slot >= class->capacity || data_at(index) + (size_t)slot * class->bytes != (uintptr_t)p)
        return NULL;
    struct range_record *record = record_at(index, slot);
    return record_is_live(record, p) ? record : NULL;
}

/* The chunk is empty and closed to all others. */
static void chunk_clear(uint32_t index, const struct slab_class *class)
{
    struct chunk *chunk = chunk_at(index);
    bool clean = pages_clear(data_at(index), pages_up((size_t) class->capacity * class->bytes)) &&
                 pages_clear((uintptr_t)record_at(index, 0),
                             pages_up(class->capacity * sizeof(struct range_record)));
    if (!clean)
        atomic_fetch_add_explicit(&empty_chunks, 1, memory_order_relaxed);
    uint64_t word = atomic_load_explicit(&chunk->word, memory_order_relaxed), next;
    do
        next = (word & ~WORD_CLEARING) | (clean ? WORD_CLEAN : 0);
    while (!atomic_compare_exchange_weak_explicit(&chunk->word, &word, next, memory_order_acq_rel,
                                                  memory_order_relaxed));
}

/* Lowers live; lists the chunk when it was full, clears it when it is one empty chunk too many. */
static void chunk_release(uint32_t index)
{
    struct chunk *chunk = chunk_at(index);
    uint64_t word = atomic_load_explicit(&chunk->word, memory_order_relaxed), next;
    do {
        next = (word - WORD_LIVE_ONE) | WORD_LISTED;
        if (live_of_word(next) == 0 &&
            atomic_load_explicit(&empty_chunks, memory_order_relaxed) >= EMPTY_KEPT)
            next |= WORD_CLEARING;
    } while (!atomic_compare_exchange_weak_explicit(&chunk->word, &word, next, memory_order_acq_rel,
                                                    memory_order_relaxed));
    struct slab_class *class = class_of_word(word);
    if (!(word & WORD_LISTED))
        id_stack_push(&class->room, index + 1, &chunk->link);
    if (next & WORD_CLEARING)
        chunk_clear(index, class);
    else if (live_of_word(next) == 0)
        atomic_fetch_add_explicit(&empty_chunks, 1, memory_order_relaxed);
}

void slab_free(const void *p, struct range_record *record)
{
    uint32_t index = chunk_index(p);
    struct chunk *chunk = chunk_at(index);
    uint64_t word = atomic_load_explicit(&chunk->word, memory_order_relaxed);
    uint32_t slot = slot_in_chunk(p, class_of_word(word));
    record_end(record);
    /* Release: pairs with the acquire in slot_take. */
    atomic_fetch_and_explicit(&chunk->bits[slot / 64], ~(1ull << slot % 64), memory_order_release);
    chunk_release(index);
}

size_t slab_usable_size(const void *p)
{
    uint64_t word = atomic_load_explicit(&chunk_at(chunk_index(p))->word, memory_order_relaxed);
    return class_of_word(word)->bytes;
}

uint64_t slab_overhead_bytes(void)
{
    uint64_t made = atomic_load_explicit(&chunks_made, memory_order_relaxed);
    return pages_up(made * sizeof(struct chunk)) + made * RECORDS_BYTES;
}
