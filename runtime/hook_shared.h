/* hook_shared.h: atomic access to the words of the shared store.
 *
 * The layout (proto/store_layout.h) is plain fixed-width fields, since the launcher and the target
 * are different programs; here they are taken as the atomics they are. Hook-safe. */
#ifndef HEAPPROF_RUNTIME_HOOK_SHARED_H
#define HEAPPROF_RUNTIME_HOOK_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

static inline _Atomic uint32_t *shared_u32(uint32_t *word)
{
    return (_Atomic uint32_t *)word;
}

static inline _Atomic uint64_t *shared_u64(uint64_t *word)
{
    return (_Atomic uint64_t *)word;
}

static inline uint32_t shared_load_u32(uint32_t *word, memory_order order)
{
    return atomic_load_explicit(shared_u32(word), order);
}

static inline uint64_t shared_load_u64(uint64_t *word, memory_order order)
{
    return atomic_load_explicit(shared_u64(word), order);
}

static inline void shared_store_u32(uint32_t *word, uint32_t value, memory_order order)
{
    atomic_store_explicit(shared_u32(word), value, order);
}

static inline void shared_store_u64(uint64_t *word, uint64_t value, memory_order order)
{
    atomic_store_explicit(shared_u64(word), value, order);
}

static inline uint32_t shared_add_u32(uint32_t *word, uint32_t value)
{
    return atomic_fetch_add_explicit(shared_u32(word), value, memory_order_relaxed);
}

static inline uint64_t shared_add_u64(uint64_t *word, uint64_t value)
{
    return atomic_fetch_add_explicit(shared_u64(word), value, memory_order_relaxed);
}

/* Acquire on failure too: the caller goes on with what another thread has published. */
static inline bool shared_swap_u32(uint32_t *word, uint32_t *expected, uint32_t wanted)
{
    return atomic_compare_exchange_strong_explicit(shared_u32(word), expected, wanted,
                                                   memory_order_acq_rel, memory_order_acquire);
}

#endif
