/* hook_moment.h: when and on which thread something happened, in one word.
 *
 * Hook-safe. The lower 12 bits are the thread's number modulo 4096 (so one pair of threads in 4096
 * is taken for one thread), the upper 52 the time in 16 ticks: 6 ns at 2.5 GHz, and a third of a
 * year at 4 GHz before a time comes around again. */
#ifndef HEAPPROF_RUNTIME_HOOK_MOMENT_H
#define HEAPPROF_RUNTIME_HOOK_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/hook_clock.h"
#include "runtime/hook_thread.h"

typedef uint64_t moment;

enum { MOMENT_THREAD_BITS = 12, MOMENT_TICK_SHIFT = 4 };

static inline moment moment_now(void)
{
    uint64_t thread = thread_number() & ((1u << MOMENT_THREAD_BITS) - 1);
    return clock_now_ticks() >> MOMENT_TICK_SHIFT << MOMENT_THREAD_BITS | thread;
}

/* Ticks since clock_start. */
static inline uint64_t moment_ticks(moment when)
{
    return when >> MOMENT_THREAD_BITS << MOMENT_TICK_SHIFT;
}

/* Ticks from one moment to another; 0 where the second does not come after the first (the counters
 * of two processors may differ by some). */
static inline uint64_t moment_ticks_between(moment from, moment to)
{
    uint64_t units = ((to >> MOMENT_THREAD_BITS) - (from >> MOMENT_THREAD_BITS))
                     << MOMENT_THREAD_BITS;
    return (int64_t)units < 0 ? 0 : units >> MOMENT_THREAD_BITS << MOMENT_TICK_SHIFT;
}

static inline bool moment_same_thread(moment a, moment b)
{
    return ((a ^ b) & ((1u << MOMENT_THREAD_BITS) - 1)) == 0;
}

#endif
