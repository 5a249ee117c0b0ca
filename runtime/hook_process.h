/* hook_process.h: whether this process records, and what a forked child does first.
 *
 * Hook-safe. A child is told from its parent by a page that the kernel wipes at fork
 * (MADV_WIPEONFORK): one load, right after any kind of fork, raw clone included; a vfork child
 * shares its parent's memory and counts as the parent. */
#ifndef HEAPPROF_RUNTIME_HOOK_PROCESS_H
#define HEAPPROF_RUNTIME_HOOK_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/hook_shared.h"

enum process_state {
    PROCESS_NEW,   /* before the constructor has decided */
    PROCESS_INERT, /* not profiled: everything is passed on */
    PROCESS_ACTIVE
};

struct process {
    _Atomic uint32_t state; /* enum process_state */
    _Atomic uint32_t *own;  /* in the wiped page: 0 in a child that has not begun */
    uint64_t rate;
    uint64_t seed;
    bool no_follow; /* forked children do not record */
};

extern struct process process __attribute__((visibility("hidden")));

/* From the constructor, when the slot is attached: gets the wiped page and begins to record.
 * False when the kernel gives no such page. */
bool process_start(uint64_t rate, uint64_t seed, bool no_follow);

/* The cold half of process_records: a child claims a slot and starts from what it holds. */
bool process_begin_child(void);

/* True when this process has a slot of its own already; a child that records nothing has none. */
static inline bool process_has_begun(void)
{
    return atomic_load_explicit(&process.state, memory_order_acquire) == PROCESS_ACTIVE &&
           atomic_load_explicit(process.own, memory_order_acquire) == 1;
}

/* True when an event of this process goes into its slot, which is then ready for it. Ask before
 * the event takes any stack id. */
static inline bool process_records(void)
{
    if (UNLIKELY(atomic_load_explicit(&process.state, memory_order_acquire) != PROCESS_ACTIVE))
        return false;
    if (LIKELY(atomic_load_explicit(process.own, memory_order_acquire) == 1))
        return true;
    return process_begin_child();
}

#endif
