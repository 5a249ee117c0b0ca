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

/* The rate by whose law the calling thread's last sampled request was chosen: what its weight has
 * to be computed from. After a change of rate a thread's gap still runs to its end by the old one.
 */
uint64_t sampler_rate_of_hit(void);

/* From now on this process samples at rate (bytes; 1: everything), with generators made from seed,
 * the process' fork ordinal and each thread's ordinal. rate 0: nothing is ever sampled. Also makes
 * the calling thread start afresh. */
void sampler_configure(uint64_t rate, uint64_t seed, uint32_t fork_ordinal);

/* Where the bytes that were asked for are added up, by each thread up to its last sample, and the
 * threads that do so: words of the store, or NULL (then they are not). *are_own is not 1 in a
 * forked child, whose parent's words they still are: what it counts until the next call is added
 * then. */
void sampler_count_in(uint64_t *bytes, uint64_t *threads, const _Atomic uint32_t *are_own);

/* Adds what the calling thread has asked for since its last sample, and takes the thread off: at
 * its end. Should it go on, it is a thread like any other. */
void sampler_settle(void);

/* Called on each thread that begins to count, hook-safe; NULL: nothing is. */
extern void (*sampler_on_thread_start)(void) __attribute__((visibility("hidden")));

/* In a forked child: the calling thread draws afresh at its next allocation. */
void sampler_restart_thread(void);

#endif
