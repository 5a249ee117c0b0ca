/* hook_stack_bounds.h: what memory a stack walk may read.
 *
 * The thread's own stack is known once and for all: from the page that has been verified lowest up
 * to its top. On any other stack (coroutine, alternate signal stack) the kernel is asked page by
 * page, for one walk. Hook-safe: any thread, signal handlers too; no system call but madvise;
 * errno kept; 24 bytes of initial-exec TLS. */
#ifndef HEAPPROF_RUNTIME_HOOK_STACK_BOUNDS_H
#define HEAPPROF_RUNTIME_HOOK_STACK_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one walk may read: a word (8 bytes) may begin at low and at the words - 1 addresses behind
 * it; words 0: nothing. */
struct stack_bounds {
    uintptr_t low;
    uintptr_t words;
};

/* Takes what the constructor has learned: an address in the last page of the main thread's stack,
 * and the usual size of a thread's stack; asks whether the kernel answers probes. Only from the
 * constructor, on the main thread. Without it every stack is treated as a foreign one. */
void stack_bounds_start(uintptr_t main_stack_end, size_t usual_stack_bytes)
    __attribute__((visibility("hidden")));

/* Bounds for a walk that begins at sp. live: sp is the rsp of this very moment, so its page can be
 * read; otherwise nothing is known of it. */
void stack_bounds_init(struct stack_bounds *bounds, uintptr_t sp, bool live)
    __attribute__((visibility("hidden")));

/* For an address outside the bounds: asks for its page, and widens or moves the bounds. False when
 * the word there cannot be read. */
bool stack_bounds_widen(struct stack_bounds *bounds, uintptr_t address)
    __attribute__((visibility("hidden")));

/* Whether the kernel says that [address, address + size) can be read; false where it cannot say.
 * size at most a few pages: they become resident. */
bool stack_bounds_probe(uintptr_t address, size_t size) __attribute__((visibility("hidden")));

/* Whether the bounds say that the word at address may be read. */
static inline bool stack_bounds_hold(struct stack_bounds bounds, uintptr_t address)
{
    return address - bounds.low < bounds.words;
}

#endif
