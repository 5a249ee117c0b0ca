/* hook_large.h: large objects of the range, a slot of address space for each.
 *
 * Hook-safe: any thread, signal handlers at any instant, fork at any instant; no lock, no system
 * call but mmap, mprotect, madvise and mremap, errno not touched. */
#ifndef HEAPPROF_RUNTIME_HOOK_LARGE_H
#define HEAPPROF_RUNTIME_HOOK_LARGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/hook_range.h"

#define LARGE_MIN_SLOT_SHIFT 17u                      /* 128 KiB */
#define LARGE_MIN_BYTES (1ul << LARGE_MIN_SLOT_SHIFT) /* the least address space of any use */

/* Address space that is needed beside data_bytes of it for objects; a multiple of the page. */
size_t large_meta_bytes(size_t data_bytes);

/* Takes over meta (large_meta_bytes(data_bytes)) and data, both without memory and page-aligned.
 * Once, before any other call; with less than LARGE_MIN_BYTES of data every large_alloc fails. */
void large_start(uintptr_t meta, uintptr_t data, size_t data_bytes);

/* An object of size bytes, at least 1, at a multiple of alignment, a power of two. NULL when there
 * is no room or the kernel refuses memory. */
void *large_alloc(size_t size, size_t alignment, bool zero, struct range_record **record);

/* For p in the data: the record of the live object that begins there, or NULL. */
struct range_record *large_record_of(const void *p);

/* Gives back an object that is being freed. Its pages stay for the next one within a bound: four
 * times the largest block freed so far, blocks above 32 MiB not counted. */
void large_free(const void *p, struct range_record *record);

/* Whole pages. */
size_t large_usable_size(const struct range_record *record);

/* Makes a live object size bytes, at least 1, where it is; pages it no longer needs are given back.
 * False when its slot is too small or the kernel refuses memory: then nothing has changed. */
bool large_resize(const void *p, struct range_record *record, size_t size);

/* Moves a live object to a larger slot without copying, by mremap; the record at the new place
 * takes over the old one's fields, with the new size. NULL when it cannot be done so: then nothing
 * has changed, and copying may still work. */
void *large_move(void *p, struct range_record **record, size_t size);

/* Resident bytes of records, at most. */
uint64_t large_overhead_bytes(void);

#endif
