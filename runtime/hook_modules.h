/* hook_modules.h: the store's table of loaded objects, kept current by the walks themselves.
 *
 * No dlopen is intercepted: a stack with a pc in a new object misses the rule cache, and the miss
 * reports the object. What goes is found after dlclose. Hook-safe. */
#ifndef HEAPPROF_RUNTIME_HOOK_MODULES_H
#define HEAPPROF_RUNTIME_HOOK_MODULES_H

#include <stdint.h>

struct dl_find_object;

/* Enters the object that holds pc into the table unless it is there. An entry that covers pc but
 * belongs to another object is retired first. Lock-free; two threads at once may enter an object
 * twice, which readers must not mind. */
void modules_note(uintptr_t pc, const struct dl_find_object *object);

/* After a dlclose: retires what is no longer loaded, forgets its unwind rules and marks the nodes
 * of its addresses, so that another object loaded there later is not taken for it. */
void modules_sweep(void);

#endif
