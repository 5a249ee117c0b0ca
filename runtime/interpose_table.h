/* interpose_table.h: every function that libheapprof.so puts in front of the target's own, once,
 * with the reason. The library exports these names and nothing else; a test compares the two.
 *
 * INTERPOSE(name, reason); operator new and delete go by their mangled names (Itanium C++ ABI). */
#ifndef HEAPPROF_RUNTIME_INTERPOSE_TABLE_H
#define HEAPPROF_RUNTIME_INTERPOSE_TABLE_H

#define INTERPOSE_TABLE(INTERPOSE)                                                                 \
    INTERPOSE_FUNCTIONS(INTERPOSE)                                                                 \
    INTERPOSE_OPERATORS(INTERPOSE)

#define INTERPOSE_FUNCTIONS(INTERPOSE)                                                             \
    INTERPOSE(malloc, "allocates")                                                                 \
    INTERPOSE(calloc, "allocates")                                                                 \
    INTERPOSE(realloc, "allocates and frees")                                                      \
    INTERPOSE(reallocarray, "allocates and frees; glibc's own calls realloc, others' may not")     \
    INTERPOSE(free, "frees; must know our objects")                                                \
    INTERPOSE(cfree, "frees; old binaries call it")                                                \
    INTERPOSE(memalign, "allocates")                                                               \
    INTERPOSE(aligned_alloc, "allocates")                                                          \
    INTERPOSE(posix_memalign, "allocates")                                                         \
    INTERPOSE(valloc, "allocates")                                                                 \
    INTERPOSE(pvalloc, "allocates")                                                                \
    INTERPOSE(malloc_usable_size, "is asked about our objects")                                    \
    INTERPOSE(free_sized, "frees; C23, newer glibc")                                               \
    INTERPOSE(free_aligned_sized, "frees; C23, newer glibc")                                       \
    INTERPOSE(dlclose, "modules go: their addresses may come back as another's")                   \
    INTERPOSE(pthread_setname_np, "names threads, which --threads shows")

#define INTERPOSE_OPERATORS(INTERPOSE)                                                             \
    INTERPOSE(_Znwm, "operator new(size_t): the leaf must be its caller")                          \
    INTERPOSE(_Znam, "operator new[](size_t)")                                                     \
    INTERPOSE(_ZnwmRKSt9nothrow_t, "operator new(size_t, nothrow_t const&)")                       \
    INTERPOSE(_ZnamRKSt9nothrow_t, "operator new[](size_t, nothrow_t const&)")                     \
    INTERPOSE(_ZnwmSt11align_val_t, "operator new(size_t, align_val_t)")                           \
    INTERPOSE(_ZnamSt11align_val_t, "operator new[](size_t, align_val_t)")                         \
    INTERPOSE(_ZnwmSt11align_val_tRKSt9nothrow_t, "operator new(size_t, align_val_t, nothrow_t)")  \
    INTERPOSE(_ZnamSt11align_val_tRKSt9nothrow_t,                                                  \
              "operator new[](size_t, align_val_t, nothrow_t)")                                    \
    INTERPOSE(_ZdlPv, "operator delete(void*): libstdc++'s calls free, another's may not")         \
    INTERPOSE(_ZdaPv, "operator delete[](void*)")                                                  \
    INTERPOSE(_ZdlPvRKSt9nothrow_t, "operator delete(void*, nothrow_t const&)")                    \
    INTERPOSE(_ZdaPvRKSt9nothrow_t, "operator delete[](void*, nothrow_t const&)")                  \
    INTERPOSE(_ZdlPvm, "operator delete(void*, size_t)")                                           \
    INTERPOSE(_ZdaPvm, "operator delete[](void*, size_t)")                                         \
    INTERPOSE(_ZdlPvSt11align_val_t, "operator delete(void*, align_val_t)")                        \
    INTERPOSE(_ZdaPvSt11align_val_t, "operator delete[](void*, align_val_t)")                      \
    INTERPOSE(_ZdlPvSt11align_val_tRKSt9nothrow_t,                                                 \
              "operator delete(void*, align_val_t, nothrow_t)")                                    \
    INTERPOSE(_ZdaPvSt11align_val_tRKSt9nothrow_t,                                                 \
              "operator delete[](void*, align_val_t, nothrow_t)")                                  \
    INTERPOSE(_ZdlPvmSt11align_val_t, "operator delete(void*, size_t, align_val_t)")               \
    INTERPOSE(_ZdaPvmSt11align_val_t, "operator delete[](void*, size_t, align_val_t)")

#endif
