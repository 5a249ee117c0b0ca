/* entry_start.h: malloc and free go straight on to the next allocator. */
#ifndef HEAPPROF_RUNTIME_ENTRY_START_H
#define HEAPPROF_RUNTIME_ENTRY_START_H

#include <stdbool.h>
#include <stdint.h>

/* From the constructor, after next_start and while the process has one thread: aims the jumps of
 * hook_entry.c at the functions in `next`. Where the system or the distance does not allow it,
 * they go on through `next`, as before. */
void entry_start(void);

/* The same where mimalloc serves what is not sampled (next_mimalloc_install has run): malloc and
 * free get mimalloc's own short ways inside. False when this is no build of mimalloc whose code is
 * known, or where entry_start could do nothing; then nothing has changed. In entry_mimalloc.c. */
bool entry_start_with_mimalloc(void);

/* Puts a copy of the entries' page, as change leaves it, in the page's place. False when change
 * says so, where no code may be made, and when somebody has a breakpoint there. */
bool entry_replace(bool (*change)(uint8_t *copy));

#endif
