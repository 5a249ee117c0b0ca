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

/* The cold half of labels_root. */
uint32_t labels_thread_node(void) __attribute__((visibility("hidden")));

/* The node that the calling thread's stacks begin under; 0, the root of all, when threads are not
 * labelled, or the table of threads or of nodes is full, which is counted as a loss. */
static inline uint32_t labels_root(void)
{
    return LIKELY(!labels_wanted.threads) ? 0 : labels_thread_node();
}

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
