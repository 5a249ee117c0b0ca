/* hook_mimalloc.h: the private mimalloc, and the memory that it is given.
 *
 * A copy of the system's libmimalloc of our own, with a part of the range as its only memory. It
 * holds either every object, recorded (hook_exact_heap.h), or those that are not sampled
 * (hook_next_mimalloc.h). Written for mimalloc 2.0.9 (Debian 12). */
#ifndef HEAPPROF_RUNTIME_HOOK_MIMALLOC_H
#define HEAPPROF_RUNTIME_HOOK_MIMALLOC_H

#include <mimalloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIMALLOC_SEGMENT_BYTES (32ul << 20) /* mimalloc 2 takes its memory in these */

/* The functions of mimalloc that are used, by name. */
#define MIMALLOC_FUNCTIONS(X)                                                                      \
    X(mi_malloc)                                                                                   \
    X(mi_zalloc)                                                                                   \
    X(mi_malloc_aligned)                                                                           \
    X(mi_malloc_aligned_at)                                                                        \
    X(mi_zalloc_aligned_at)                                                                        \
    X(mi_free)                                                                                     \
    X(mi_usable_size)                                                                              \
    X(mi_thread_done)                                                                              \
    X(mi_process_info)                                                                             \
    X(mi_version)                                                                                  \
    X(mi_option_get)                                                                               \
    X(mi_option_set)                                                                               \
    X(mi_register_output)                                                                          \
    X(mi_register_error)                                                                           \
    X(mi_manage_os_memory_ex)

#define MIMALLOC_POINTER(name) __typeof__(&(name)) name;
struct mimalloc_calls {
    MIMALLOC_FUNCTIONS(MIMALLOC_POINTER)
};
#undef MIMALLOC_POINTER

/* What the user's MIMALLOC_* variables say about memory, which mimalloc must not do by itself: it
 * would lie outside the part given. */
struct mimalloc_wishes {
    uint64_t reserve_bytes; /* to have from the start, never given back; 0: none */
    bool huge_pages;
};

/* Loads the private mimalloc from path and sets its options: the user's where users_options says
 * so, with *wishes filled, else the defaults, silent. Only from the constructor: dlopen allocates,
 * and the environment is changed for a moment. False when it cannot be loaded or is of another
 * kind. In mimalloc_load.c. */
bool mimalloc_load(const char *path, bool users_options, struct mimalloc_calls *calls,
                   struct mimalloc_wishes *wishes);

/* The functions, valid after mimalloc_start. */
extern struct mimalloc_calls mimalloc __attribute__((visibility("hidden")));

/* Gives it the beginning of [base, base + bytes), multiples of MIMALLOC_SEGMENT_BYTES without
 * memory. Once, from the constructor; false when there is no memory. wishes may be NULL. */
bool mimalloc_start(const struct mimalloc_calls *calls, uintptr_t base, size_t bytes,
                    const struct mimalloc_wishes *wishes);

/* Gives it more of that, after it has found no room; true when it is worth asking again. Hook-safe;
 * the caller is inside the gate (hook_heap_gate.h). */
bool mimalloc_grow(void);

/* Bytes given so far, from base on: all of them readable. */
size_t mimalloc_given_bytes(void);

#endif
