/* hook_exact_heap.h: objects of the range when every allocation is recorded: the private mimalloc.
 *
 * The record stands in a header before each object of the private mimalloc (hook_mimalloc.h).
 * Hook-safe once started: any thread, signal handlers (they are turned away when they interrupt
 * it), errno kept. */
#ifndef HEAPPROF_RUNTIME_HOOK_EXACT_HEAP_H
#define HEAPPROF_RUNTIME_HOOK_EXACT_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/hook_range.h"

#define EXACT_HEAP_MAX_ALIGNMENT 4096ul

struct mimalloc_calls;
struct mimalloc_wishes;

/* Gives it [base, base + bytes), multiples of MIMALLOC_SEGMENT_BYTES without memory, and opens
 * the gate; after heap_gate_start. Once. False when there is no memory; then every exact_heap_alloc
 * fails. */
bool exact_heap_start(const struct mimalloc_calls *calls, uintptr_t base, size_t bytes,
                      const struct mimalloc_wishes *wishes);

/* An object of size bytes, 1 to SIZE_MAX / 2, at a multiple of alignment, a power of two up to
 * EXACT_HEAP_MAX_ALIGNMENT. NULL when there is no room, and while the calling thread is inside
 * already or a fork is under way. */
void *exact_heap_alloc(size_t size, size_t alignment, bool zero, struct range_record **record);

/* For p in the part given: the record of the live object that begins there, or NULL. */
struct range_record *exact_heap_record_of(const void *p);

/* Gives back an object that is being freed, later when that cannot be done now. */
void exact_heap_free(void *p, struct range_record *record);

/* Bytes usable at the live object p. */
size_t exact_heap_usable_size(const void *p);

#endif
