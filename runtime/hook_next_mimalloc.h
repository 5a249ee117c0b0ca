/* hook_next_mimalloc.h: the private mimalloc as the allocator of what is not sampled.
 *
 * It takes the place of the next allocator (hook_next.h); the one that was there, the C library's
 * or another, stays behind it for pointers of its own and for what finds no room. Hook-safe once
 * started. */
#ifndef HEAPPROF_RUNTIME_HOOK_NEXT_MIMALLOC_H
#define HEAPPROF_RUNTIME_HOOK_NEXT_MIMALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where its objects live, [base, end): free asks for it and nothing else. */
extern uintptr_t next_mimalloc_base __attribute__((visibility("hidden")));
extern uintptr_t next_mimalloc_end __attribute__((visibility("hidden")));

/* Becomes `next`; after mimalloc_start with that part, and heap_gate_open. From the constructor. */
void next_mimalloc_install(uintptr_t base, size_t bytes);

/* Loads it from path and installs it, with the entry's short ways where that can be done
 * (entry_mimalloc.c). From the constructor. False when it cannot be had: *reason, a
 * message_trouble, says why, and nothing has changed. In next_mimalloc_start.c. */
bool next_mimalloc_start(const char *path, uint32_t *reason);

/* --- for the entry that has mimalloc's own short ways in it ---------------------------------- */

/* What these are: malloc without counting, free with all its tests, and mimalloc's own function
 * for a page that has become empty. */
struct next_mimalloc_entry {
    void *(*malloc)(size_t);
    void (*free)(void *);
    void (*retire)(void *page);
};
void next_mimalloc_use_entry(const struct next_mimalloc_entry *entry);

/* Where mimalloc's short ways end, with the arguments that its functions have there
 * (_mi_malloc_generic, mi_free_generic, _mi_page_retire). */
void *next_mimalloc_malloc_exit(void *heap, size_t size);
void next_mimalloc_free_exit(void *segment, void *page, bool is_local, void *p);
void next_mimalloc_retire_exit(void *page);

/* Frees p, which is not mimalloc's. */
void next_mimalloc_free_other(void *p);

#endif
