/* hook_caller_stack.h: the id of the stack that an event belongs to.
 *
 * Hook-safe: any thread, signal handlers too. */
#ifndef HEAPPROF_RUNTIME_HOOK_CALLER_STACK_H
#define HEAPPROF_RUNTIME_HOOK_CALLER_STACK_H

#include <stdint.h>

/* The stack of the caller, interned in the store; frames of this library are left out. Never 0.
 * What cannot be walked or has no room is counted as a loss, and has a stack that says so. errno
 * kept. */
uint32_t caller_stack(void);

/* In a forked child, at its start: nobody else is in here. */
void caller_stack_restart(void);

#endif
