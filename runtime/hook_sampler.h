/* hook_sampler.h: which allocations are recorded.
 *
 * Hook-safe: runs in the target's malloc on any thread, also in signal handlers. Each thread counts
 * the bytes it asks for down to its next sample, so an unsampled allocation costs one subtraction
 * and two branches (malloc's own are in hook_entry.c). Gaps are exponential: no
 * allocation pattern can hide between them. A request of 0 bytes counts as 1. */
#ifndef HEAPPROF_RUNTIME_HOOK_SAMPLER_H
#define HEAPPROF_RUNTIME_HOOK_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/hook_shared.h"

/* For the half that serves a sampled request, out of line. Not the attribute cold: that would move
 * the jump to it out of the hot half's cache line into another section, and a branch that is taken
 * now and then costs more the further away its target is (ring of small blocks: 0.5 %). */
#define SAMPLED_HALF __attribute__((noinline))

/* Bytes until this thread's next sample; 0 in a thread that has not started, and at rate 1. Not
 * positive while a request that has reached it is being decided. */
extern __thread int64_t sampler_until __attribute__((visibility("hidden")));

/* True when an allocation of size bytes is surely not sampled; it has been counted then. False:
 * ask sampler_hit, once, before anything else is allocated. One subtraction in memory: a signal
 * handler sees the count before or after it, and where it was reached sees so by its sign. Empty
 * requests, and those beyond PTRDIFF_MAX, which cannot succeed, are not counted here. */
static inline bool sampler_passes(size_t size)
{
    if (UNLIKELY((ptrdiff_t)size <= 0))
        return false;
    __asm__ goto("subq %1, %0\n\tjle %l[reached]"
                 :
                 : "m"(sampler_until), "r"(size)
                 : "cc", "memory"
                 : reached);
    return true;
reached:
    return false;
}

/* The cold half, after sampler_passes(size) said false: true when the allocation is sampled. Draws
 * the next gap; starts the thread's generator when it is new. */
bool sampler_hit(size_t size);

/* From now on this process samples at rate (bytes; 1: everything), with generators made from seed,
 * the process' fork ordinal and each thread's ordinal. rate 0: nothing is ever sampled. Also makes
 * the calling thread start afresh. */
void sampler_configure(uint64_t rate, uint64_t seed, uint32_t fork_ordinal);

/* In a forked child: the calling thread draws afresh at its next allocation. */
void sampler_restart_thread(void);

/* The rate in force, bytes; 0 when nothing is sampled. */
uint64_t sampler_rate(void);

#endif
