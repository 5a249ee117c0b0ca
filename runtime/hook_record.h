/* hook_record.h: the life of a record: free, live, being freed.
 *
 * The state word mixes the object's address with the stage, so a record that the program has
 * overwritten, a stale one, and an address that is no object's are told from a live one.
 * Hook-safe. */
#ifndef HEAPPROF_RUNTIME_HOOK_RECORD_H
#define HEAPPROF_RUNTIME_HOOK_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/hook_range.h"
#include "runtime/hook_thread.h"

_Static_assert(sizeof(struct range_record) == 32, "range_record");

enum { RECORD_LIVE = 1, RECORD_FREEING = 2, RECORD_STAGE_MASK = 3 };

/* Multiplying by 2^64 / golden ratio spreads the address over the upper bits (Knuth, The Art of
 * Computer Programming, volume 3, 6.4). */
static inline uint32_t record_live_state(const void *p)
{
    uint64_t mixed = (uint64_t)(uintptr_t)p * 0x9e3779b97f4a7c15ull;
    return ((uint32_t)(mixed >> 32) & ~(uint32_t)RECORD_STAGE_MASK) | RECORD_LIVE;
}

/* Makes the record of a new object of size bytes at p. */
static inline void record_start(struct range_record *record, const void *p, uint64_t size)
{
    record->size = size;
    record->weight_q16 = 0;
    record->stack = 0;
    record->born = 0;
    /* Release: pairs with the acquire in record_is_live. */
    __atomic_store_n(&record->state, record_live_state(p), __ATOMIC_RELEASE);
}

static inline bool record_is_live(const struct range_record *record, const void *p)
{
    return __atomic_load_n(&record->state, __ATOMIC_ACQUIRE) == record_live_state(p);
}

/* Live to being freed; true for one caller only. */
static inline bool record_begin_free(struct range_record *record)
{
    uint32_t state = __atomic_load_n(&record->state, __ATOMIC_RELAXED);
    if ((state & RECORD_STAGE_MASK) != RECORD_LIVE)
        return false;
    uint32_t freeing = (state & ~(uint32_t)RECORD_STAGE_MASK) | RECORD_FREEING;
    return thread_swap_u32(&record->state, state, freeing, thread_is_alone());
}

static inline void record_end(struct range_record *record)
{
    /* Release: pairs with the acquire in record_is_live; the memory is reused only after this. */
    __atomic_store_n(&record->state, 0, __ATOMIC_RELEASE);
}

#endif
