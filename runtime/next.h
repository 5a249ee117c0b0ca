/* next.h: finds the allocator behind ours. */
#ifndef HEAPPROF_RUNTIME_NEXT_H
#define HEAPPROF_RUNTIME_NEXT_H

/* From the constructor: fills `next` (hook_next.h) by dlsym(RTLD_NEXT). */
void next_start(void);

#endif
