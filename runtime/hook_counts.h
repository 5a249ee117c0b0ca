/* hook_counts.h: what each stack has allocated, holds, and held at the peak.
 *
 * Hook-safe. One change is exact also with several threads: the process' live bytes, its peak and
 * the peak's number move by one 16-byte compare and swap while the stack's short lock is held, and
 * the stack saves its values against the peak number that this swap saw (the proof is in the .c
 * file). A change that a signal handler makes inside another one of its own thread is made at once
 * where that cannot wait for anybody, and else by that thread a moment later. */
#ifndef HEAPPROF_RUNTIME_HOOK_COUNTS_H
#define HEAPPROF_RUNTIME_HOOK_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/hook_moment.h"

/* One object more or less at a stack. */
struct counts_change {
    uint32_t stack; /* from store_intern */
    bool freed;
    uint64_t size; /* bytes, as asked for */
    uint64_t weight_q16;
    moment born; /* when it was allocated */
    moment now;  /* when it is freed; not looked at for one that is allocated */
};

/* Objects freed within so many ticks are temporary ones. From the constructor. */
void counts_set_temporary(uint64_t ticks);

/* Gets the private copy of what the stacks hold, from which a forked child starts; from the
 * constructor, after store_attach. False when there is no memory for it: then there is nothing to
 * count with. */
bool counts_start(void);

/* Makes room for what is held of the stack, before the first change of it; false when there is no
 * memory for that. STORE_STACK_OTHER has room from the start. */
bool counts_make_room(uint32_t stack);

/* Makes the change in the slot. */
void counts_change(const struct counts_change *change);

/* True when the private copy says that this stack holds something. */
bool counts_holds(uint32_t stack);

/* In a forked child whose slot is attached and whose stacks have their nodes: fills all counters
 * from the private copy, which is as it was at the fork. stack_count as copied. */
void counts_restore(uint32_t stack_count);

/* Private memory used for the copy, in bytes at most. */
uint64_t counts_overhead_bytes(void);

#endif
