/* hook_exact_heap.h: objects of the range when every allocation is recorded: the private mimalloc.
 *
 * A copy of the system's libmimalloc of our own, given a part of the range as its only memory; the
 * record stands in a header before each object. Hook-safe once started: any thread, signal handlers
 * (they are turned away when they interrupt it), errno kept. */
#ifndef HEAPPROF_RUNTIME_HOOK_EXACT_HEAP_H
#define HEAPPROF_RUNTIME_HOOK_EXACT_HEAP_H

#include <mimalloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/hook_range.h"

#define EXACT_HEAP_SEGMENT_BYTES (32ul << 20) /* mimalloc 2 takes its memory in these */
#define EXACT_HEAP_MAX_ALIGNMENT 4096ul

/* The functions of mimalloc that are used, by name. */
#define EXACT_HEAP_FUNCTIONS(X)                                                                    \
    X(mi_malloc)                                                                                   \
    X(mi_zalloc)                                                                                   \
    X(mi_malloc_aligned_at)                                                                        \
    X(mi_zalloc_aligned_at)                                                                        \
    X(mi_free)                                                                                     \
    X(mi_usable_size)                                                                              \
    X(mi_thread_done)                                                                              \
    X(mi_version)                                                                                  \
    X(mi_option_get)                                                                               \
    X(mi_option_set)                                                                               \
    X(mi_register_output)                                                                          \
    X(mi_register_error)                                                                           \
    X(mi_manage_os_memory_ex)

#define EXACT_HEAP_POINTER(name) __typeof__(&(name)) name;
struct exact_heap_calls {
    EXACT_HEAP_FUNCTIONS(EXACT_HEAP_POINTER)
};
#undef EXACT_HEAP_POINTER

/* Loads the private mimalloc from path and sets its options. Only from the constructor: dlopen
 * allocates, and the environment is changed for a moment. False when it cannot be loaded or is of
 * another kind. In exact_heap_load.c. */
bool exact_heap_load(const char *path, struct exact_heap_calls *calls);

/* Gives it [base, base + bytes), multiples of EXACT_HEAP_SEGMENT_BYTES without memory, and opens
 * the gate; after heap_gate_start. Once. False when there is no memory; then every exact_heap_alloc
 * fails. */
bool exact_heap_start(const struct exact_heap_calls *calls, uintptr_t base, size_t bytes);

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
