/* hook_labels.h: labels of what is recorded: the thread it was allocated on, its size class.
 *
 * Hook-safe. Labels are nodes of the store's prefix tree that are no frames: a thread's lies above
 * its outermost frames, so that a stack that has not changed keeps its id; a size class' lies below
 * the innermost one. A thread that comes up asks the kernel for its id and name, once (gettid,
 * prctl). */
#ifndef HEAPPROF_RUNTIME_HOOK_LABELS_H
#define HEAPPROF_RUNTIME_HOOK_LABELS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/hook_shared.h"

struct labels_wanted {
    bool threads, sizes;
};

/* Written in the constructor. */
extern struct labels_wanted labels_wanted __attribute__((visibility("hidden")));

/* Whether any thread's root may be another than 0. */
extern bool labels_have_roots __attribute__((visibility("hidden")));

/* The cold half of labels_root. */
uint32_t labels_own_root(void) __attribute__((visibility("hidden")));

/* The node that the calling thread's stacks begin under: its label's; else that of its shard, or 0,
 * the root of all, also where the table of threads or of nodes is full, which is counted as a loss.
 */
static inline uint32_t labels_root(void)
{
    return LIKELY(!labels_have_roots) ? 0 : labels_own_root();
}

/* The calling thread has met another one at a stack. When that happens often, its stacks are
 * counted apart from then on, under one of a few nodes that are no labels (shards), and put
 * together again by the reader. */
void labels_contended(void);

/* The cold half of labels_sized. */
uint32_t labels_size_stack(uint32_t stack, uint64_t size) __attribute__((visibility("hidden")));

/* The stack that objects of size bytes from this stack are counted at: itself when sizes are not
 * labelled or the tables are full. */
static inline uint32_t labels_sized(uint32_t stack, uint64_t size)
{
    return LIKELY(!labels_wanted.sizes) ? stack : labels_size_stack(stack, size);
}

/* The program calls the thread with this kernel id so (terminated; the first 16 bytes count).
 * Nothing happens when that thread has recorded nothing so far. */
void labels_name_thread(uint32_t tid, const char *name);

/* In a forked child whose slot is attached: the calling thread is another one now. */
void labels_restart(void);

#endif
