/* hook_range.h: the address range that recorded objects live in, and what holds them there.
 *
 * Where an object lives is its sampled bit: free(p) asks range_holds(p) and nothing else. Two kinds
 * of holder behind one interface: slabs of our own (sampling), with records in a side array, and
 * the private mimalloc (every object recorded), with the record in a header. Large blocks have a
 * slot of their own in both. Hook-safe: any thread, signal handlers too, unless said otherwise;
 * errno is not touched; no lock that a signal handler could find held by its own thread (a call
 * that would have to wait for its own thread fails instead). */
#ifndef HEAPPROF_RUNTIME_HOOK_RANGE_H
#define HEAPPROF_RUNTIME_HOOK_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/hook_shared.h"

/* Written once by range_reserve, before any object exists; end 0: no range, nothing is in it. */
extern uintptr_t range_base __attribute__((visibility("hidden")));
extern uintptr_t range_end __attribute__((visibility("hidden")));

/* True when p lies in the range. The range is reserved below what the allocators of a
 * position-independent program hand out: the first comparison answers for nearly every p. */
static inline bool range_holds(const void *p)
{
    return UNLIKELY((uintptr_t)p < range_end) && UNLIKELY((uintptr_t)p >= range_base);
}

/* What the runtime knows of one object in the range. The state is the range's, all else is the
 * caller's. weight_q16 0: in the range, but not in the profile. 32 bytes. */
struct range_record {
    uint64_t size;       /* as the program asked for it, bytes */
    uint64_t weight_q16; /* objects it stands for, in 1/65536 */
    uint32_t stack;      /* id in the store */
    uint32_t state;      /* private: live, being freed, free; detects overwriting */
    uint64_t born;       /* when and on which thread it was allocated: a moment */
};

/* Reserves the range (PROT_NONE, no memory): 1 TiB, under RLIMIT_AS or RLIMIT_DATA at most an
 * eighth of what is left, and slabs from 1 MiB on. Safe before any constructor has run. Idempotent;
 * false when no address space could be had: then every range_alloc fails. */
bool range_reserve(void);

/* From now on objects are held by the private mimalloc, whose shared object is at path (a private
 * copy with a SONAME of its own, loaded RTLD_LOCAL); with users_options, MIMALLOC_* are for it.
 * Only from the constructor, after range_reserve; may call malloc through dlopen. False when it
 * cannot be loaded: slabs go on. Takes a key of thread-specific data, and fork handlers
 * (pthread_atfork) that bring mimalloc to rest: they wait for threads inside it, usually not at all
 * and at most 50 ms; if one is still inside then (it is not scheduled), the child goes on with
 * slabs. A child of raw clone may hang in mimalloc when another thread was inside; slabs and large
 * slots are safe at any instant. */
bool range_use_mimalloc(const char *path, bool users_options);

/* The part that is kept for the private mimalloc, of [*base, *base + *bytes); false when the range
 * is too small to have one. */
bool range_mimalloc_part(uintptr_t *base, size_t *bytes);
/* Takes it out of the range, which holds nothing there any more. Only from the constructor, before
 * there are objects in it. */
void range_leave_mimalloc_part(void);

/* An object of at least size bytes at a multiple of alignment (a power of two, 16 at least is
 * given), zeroed when zero is set. *record is its record, live, with size set and weight_q16 0
 * until the caller fills it in. NULL when there is no room: nothing has changed then. */
void *range_alloc(size_t size, size_t alignment, bool zero, struct range_record **record);

/* The record of the live object that begins at p (in the range), NULL when p is not the address of
 * a live object or its record is damaged. */
struct range_record *range_record_of(const void *p);

/* Takes the object out of use: true for exactly one caller, false when somebody has freed it
 * before. From then on its memory may be reused only after range_free. */
bool range_begin_free(struct range_record *record);
/* Gives the memory back; after range_begin_free. */
void range_free(void *p, struct range_record *record);

/* Bytes that the program may use at p, at least record->size. */
size_t range_usable_size(const void *p, const struct range_record *record);

/* Changes the size of a live object, in place where possible (large ones grow by mprotect inside
 * their slot and move by mremap). The contents are kept. Gives the object's address, and in
 * *record its record with the new size and the other fields as they were; NULL when there is no
 * room, the old object being untouched then. */
void *range_realloc(void *p, struct range_record **record, size_t size);

/* Private memory the range uses for its own data (records, bitmaps), resident bytes at most. */
uint64_t range_overhead_bytes(void);

#endif
