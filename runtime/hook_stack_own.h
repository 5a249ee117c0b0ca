/* hook_stack_own.h: which pcs are this library's own, to be left out of every stack.
 *
 * Hook-safe: two loads. */
#ifndef HEAPPROF_RUNTIME_HOOK_STACK_OWN_H
#define HEAPPROF_RUNTIME_HOOK_STACK_OWN_H

#include <stdbool.h>
#include <stdint.h>

/* Where this library is mapped. Size 0, so that nothing is left out, before stack_start and when
 * the runtime is linked into a program rather than loaded into one. Written once. */
extern uintptr_t stack_own_start __attribute__((visibility("hidden")));
extern uintptr_t stack_own_size __attribute__((visibility("hidden")));

static inline bool stack_own_holds(uintptr_t pc)
{
    return pc - stack_own_start < stack_own_size;
}

#endif
