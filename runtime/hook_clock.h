/* hook_clock.h: the time, without a system call.
 *
 * Hook-safe: clock_gettime runs in the vdso. Between two events of one process time is told in
 * ticks, of the processor's time stamp counter where that runs at one speed (11 ns a reading,
 * clock_gettime 27), else of CLOCK_MONOTONIC. */
#ifndef HEAPPROF_RUNTIME_HOOK_CLOCK_H
#define HEAPPROF_RUNTIME_HOOK_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "proto/store_layout.h"
#include "runtime/hook_shared.h"

struct clock_ticks {
    enum store_tick_kind kind;
    uint64_t origin; /* of the first image; forked children go on from it */
};

/* Set by clock_start and constant from then on. */
extern struct clock_ticks clock_ticks __attribute__((visibility("hidden")));

/* Chooses how ticks are told and begins to count them; from the constructor. has_tsc: the launcher
 * says that the time stamp counter can be trusted. Falls back on CLOCK_MONOTONIC where this process
 * may not read the counter. */
void clock_start(bool has_tsc);

/* Nanoseconds of CLOCK_MONOTONIC or of CLOCK_MONOTONIC_COARSE, which moves with the kernel's tick
 * (4 ms) and is cheaper; 0 when there is no such clock. */
static inline uint64_t clock_now_ns(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Ticks since clock_start. */
static inline uint64_t clock_now_ticks(void)
{
    if (LIKELY(clock_ticks.kind == STORE_TICK_TSC))
        return __builtin_ia32_rdtsc() - clock_ticks.origin;
    return clock_now_ns(CLOCK_MONOTONIC) - clock_ticks.origin;
}

#endif
