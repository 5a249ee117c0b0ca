/* hook_live.c: the live bytes of the process, their peak, and the peak's number (epoch).
 *
 * Hook-safe, lock-free. An allocation that stays below the peak, and every free, changes no more
 * than the lower half of the word: it is one instruction on 8 bytes, and the upper half is right as
 * long as the epoch in the lower one is the same. */
#include "runtime/hook_live.h"

#include <stdatomic.h>
#include <time.h>

#include "proto/store_layout.h"
#include "runtime/hook_clock.h"
#include "runtime/hook_shared.h"
#include "runtime/hook_store.h"
#include "runtime/hook_thread.h"

enum { LIVE_LATE_WORDS = 32, LIVE_LATE_BYTES = 4096, EPOCH_SHIFT = 48 };

static bool may_be_late;
static struct {
    int64_t bytes;
} __attribute__((aligned(64))) late[LIVE_LATE_WORDS];

static inline bool swap_16(struct store_live *live, struct store_live *expected,
                           struct store_live wanted, bool alone)
{
    bool swapped;
    if (alone)
        __asm__ volatile("cmpxchg16b %1"
                         : "=@ccz"(swapped), "+m"(*live), "+a"(expected->low), "+d"(expected->high)
                         : "b"(wanted.low), "c"(wanted.high)
                         : "memory");
    else
        __asm__ volatile("lock cmpxchg16b %1"
                         : "=@ccz"(swapped), "+m"(*live), "+a"(expected->low), "+d"(expected->high)
                         : "b"(wanted.low), "c"(wanted.high)
                         : "memory");
    return swapped;
}

/* Both halves, of one time as far as the epoch goes: its lower part comes around only after 65536
 * peaks. */
static inline struct store_live look(struct store_live *live)
{
    struct store_live seen;
    do {
        seen.low = shared_load_u64(&live->low, memory_order_relaxed);
        seen.high = shared_load_u64(&live->high, memory_order_acquire);
    } while (UNLIKELY(shared_load_u64(&live->low, memory_order_relaxed) >> EPOCH_SHIFT !=
                      seen.low >> EPOCH_SHIFT));
    return seen;
}

/* Late changes can make the live bytes negative for a while: 48 bits with a sign. */
static inline int64_t signed_bytes(uint64_t low)
{
    return (int64_t)(low << 16) >> 16;
}

static __attribute__((noinline)) uint32_t pass_peak(int64_t change, bool alone)
{
    struct store_live *live = &store.header->live;
    struct store_live seen = look(live);
    for (;;) {
        uint32_t epoch = store_live_epoch(seen);
        int64_t now = signed_bytes(seen.low) + change;
        bool is_peak = now > (int64_t)store_live_peak(seen);
        uint32_t next = epoch + is_peak;
        uint64_t peak = is_peak ? (uint64_t)now & STORE_LIVE_MASK : store_live_peak(seen);
        struct store_live wanted = {.low = ((uint64_t)now & STORE_LIVE_MASK) |
                                           (uint64_t)(next & 0xffff) << EPOCH_SHIFT,
                                    .high = peak | (uint64_t)(next >> 16) << EPOCH_SHIFT};
        if (LIKELY(swap_16(live, &seen, wanted, alone))) {
            if (is_peak)
                shared_store_u64(&store.header->peak_ns, clock_now_ns(CLOCK_MONOTONIC_COARSE),
                                 memory_order_relaxed);
            return epoch;
        }
    }
}

static inline uint32_t move_now(int64_t change, bool alone)
{
    struct store_live *live = &store.header->live;
    struct store_live seen = look(live);
    int64_t now = signed_bytes(seen.low) + change;
    uint64_t low = ((uint64_t)now & STORE_LIVE_MASK) | (seen.low & ~STORE_LIVE_MASK);
    if (LIKELY(now <= (int64_t)store_live_peak(seen) &&
               thread_swap_u64(&live->low, seen.low, low, alone)))
        return store_live_epoch(seen);
    return pass_peak(change, alone);
}

uint32_t live_move(uint64_t bytes, bool freed, bool alone)
{
    int64_t change = freed ? -(int64_t)bytes : (int64_t)bytes;
    if (LIKELY(alone || !may_be_late))
        return move_now(change, alone);
    bool own;
    int64_t *word = &late[thread_word(LIVE_LATE_WORDS, &own)].bytes;
    int64_t sum = thread_add_i64(word, change, own);
    if (LIKELY(sum < LIVE_LATE_BYTES && sum > -LIVE_LATE_BYTES))
        return store_live_epoch(look(&store.header->live));
    shared_store_u32(&store.header->live_is_late, 1, memory_order_relaxed);
    return move_now(__atomic_exchange_n(word, 0, __ATOMIC_RELAXED), alone);
}

void live_start(bool is_exact)
{
    may_be_late = is_exact;
}

void live_restart(uint64_t bytes)
{
    for (unsigned i = 0; i < LIVE_LATE_WORDS; i++)
        late[i].bytes = 0;
    store.header->live.low = bytes | 1ull << EPOCH_SHIFT; /* no stack has saved against 1 yet */
    store.header->live.high = bytes;
    store.header->peak_ns = clock_now_ns(CLOCK_MONOTONIC_COARSE);
}
