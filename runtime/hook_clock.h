/* hook_clock.h: the time, without a system call.
 *
 * Hook-safe: clock_gettime runs in the vdso. */
#ifndef HEAPPROF_RUNTIME_HOOK_CLOCK_H
#define HEAPPROF_RUNTIME_HOOK_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of CLOCK_MONOTONIC or of CLOCK_MONOTONIC_COARSE, which moves with the kernel's tick
 * (4 ms) and is cheaper; 0 when there is no such clock. */
static inline uint64_t clock_now_ns(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
