/* hook_event.h: a recorded allocation from its first to its last moment.
 *
 * Hook-safe. Brings together where the object lives (hook_range.h), who asked for it
 * (hook_caller_stack.h) and the books (hook_store.h, hook_counts.h). */
#ifndef HEAPPROF_RUNTIME_HOOK_EVENT_H
#define HEAPPROF_RUNTIME_HOOK_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/hook_next.h"
#include "runtime/hook_range.h"

/* The library's only public visibility: what stands in interpose_table.h. */
#define HOOK __attribute__((visibility("default")))

/* A recorded object for a sampled request, whose stack is the caller's; NULL when this process does
 * not record or there is no room: the caller then passes the request on, and says event_missed if
 * that gave an object. size bytes as the program asked. */
void *event_allocate(size_t size, size_t alignment, bool zero);

/* A sampled request of size bytes was passed on after all. */
void event_missed(size_t size);

/* Frees the object at p, which lies in the range. Ends the program, as glibc does, with one line
 * on stderr when p is no live object. */
void event_free(void *p);

/* Frees p, ours or the next allocator's. */
static inline void event_free_any(void *p)
{
    if (UNLIKELY(range_holds(p)))
        event_free(p);
    else
        next.free(p);
}

/* realloc of the object at p, in the range, to size > 0: the old object is freed and, if sampled,
 * a new one recorded at the caller's stack. NULL when there is no memory: p is untouched then. */
void *event_reallocate(void *p, size_t size, bool sampled);

/* Moves the object at p, which the next allocator gave, into the range as a recorded one of size
 * bytes; NULL when that cannot be done: p is untouched then. */
void *event_adopt(void *p, size_t size);

/* Bytes usable at p, in the range. */
size_t event_usable_size(void *p);

/* In a forked child, at its start: nobody else is in here. */
void event_restart(void);

#endif
