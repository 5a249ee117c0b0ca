/* hook_live.h: the live bytes of the process, their peak, and the peak's number (epoch).
 *
 * Hook-safe, lock-free. Live bytes, peak and epoch are one word of 16 bytes, so all changes are in
 * one order; see hook_counts.c for what that is good for. Where every allocation is recorded and
 * there are several threads, that word would be what they wait for most. Then each change goes into
 * one of LIVE_LATE_WORDS words, that of its thread, and only what has come together there, more
 * than LIVE_LATE_BYTES, into the order. So the peak may be off by that much for each of these
 * words: 128 KiB in all, 64 KiB for each of two threads. The stacks' values at the peak still make
 * one sum, which is the peak that is reported (store_header.live_is_late). */
#ifndef HEAPPROF_RUNTIME_HOOK_LIVE_H
#define HEAPPROF_RUNTIME_HOOK_LIVE_H

#include <stdbool.h>
#include <stdint.h>

/* From the constructor: whether every allocation is recorded, so that changes may be late. */
void live_start(bool is_exact);

/* Adds bytes to the live ones, or takes them away, and raises the peak where it is passed. alone:
 * as of thread_is_alone. Returns the epoch before; a change whose stack has saved nothing for it
 * yet saves what it held. Under the stack's lock. */
uint32_t live_move(uint64_t bytes, bool freed, bool alone);

/* In a forked child whose slot is attached: it begins with so many live bytes, at their peak. */
void live_restart(uint64_t bytes);

#endif
