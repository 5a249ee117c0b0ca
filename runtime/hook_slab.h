/* hook_slab.h: small objects of the range, with their records in a side array.
 *
 * Hook-safe: any thread, signal handlers at any instant, fork at any instant; no lock, no system
 * call but mprotect and madvise, errno not touched. */
#ifndef HEAPPROF_RUNTIME_HOOK_SLAB_H
#define HEAPPROF_RUNTIME_HOOK_SLAB_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/hook_range.h"

#define SLAB_MAX_BYTES 32768u
#define SLAB_MAX_ALIGNMENT 4096u
#define SLAB_CHUNK_BYTES 65536u

/* Address space that the slabs need beside data_bytes of it for objects; a multiple of the page. */
size_t slab_meta_bytes(size_t data_bytes);

/* Takes over meta (slab_meta_bytes(data_bytes)) and data, both without memory and page-aligned;
 * data_bytes is a multiple of SLAB_CHUNK_BYTES. Once, before any other call. */
void slab_start(uintptr_t meta, uintptr_t data, size_t data_bytes);

/* An object of size bytes, 1 to SLAB_MAX_BYTES, at a multiple of alignment, a power of two up to
 * SLAB_MAX_ALIGNMENT; not zeroed. NULL when there is no room. */
void *slab_alloc(size_t size, size_t alignment, struct range_record **record);

/* For p in the data: the record of the live object that begins there, or NULL. */
struct range_record *slab_record_of(const void *p);

/* Gives back an object that is being freed. */
void slab_free(const void *p, struct range_record *record);

/* Bytes of the slot of a live object. */
size_t slab_usable_size(const void *p);

/* Resident bytes of records and descriptors, at most. */
uint64_t slab_overhead_bytes(void);

#endif
