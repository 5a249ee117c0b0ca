/* entry_start.h: malloc and free go straight on to the next allocator. */
#ifndef HEAPPROF_RUNTIME_ENTRY_START_H
#define HEAPPROF_RUNTIME_ENTRY_START_H

/* From the constructor, after next_start and while the process has one thread: aims the jumps of
 * hook_entry.c at the functions in `next`. Where the system or the distance does not allow it,
 * they go on through `next`, as before. */
void entry_start(void);

#endif
