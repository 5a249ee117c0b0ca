/* hook_sizes.h: what was allocated, by size class.
 *
 * Hook-safe: two additions an object, in one of several copies, so that threads seldom meet. */
#ifndef HEAPPROF_RUNTIME_HOOK_SIZES_H
#define HEAPPROF_RUNTIME_HOOK_SIZES_H

#include <stdint.h>

/* Counts a sampled object of size bytes that stands for weight_q16 objects. */
void sizes_count(uint64_t size, uint64_t weight_q16);

#endif
