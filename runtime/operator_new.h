/* operator_new.h: libstdc++'s own operators behind ours.
 *
 * Found by the constructor where libstdc++ is loaded by then; a C program may load it later with a
 * plugin, so that a failing operator looks again. */
#ifndef HEAPPROF_RUNTIME_OPERATOR_NEW_H
#define HEAPPROF_RUNTIME_OPERATOR_NEW_H

#include <stdbool.h>
#include <stddef.h>

struct operators {
    bool replaced; /* the program has operators of its own in front of ours */
    void *(*_Znwm)(size_t);
    void *(*_Znam)(size_t);
    void *(*_ZnwmRKSt9nothrow_t)(size_t, const void *);
    void *(*_ZnamRKSt9nothrow_t)(size_t, const void *);
    void *(*_ZnwmSt11align_val_t)(size_t, size_t);
    void *(*_ZnamSt11align_val_t)(size_t, size_t);
    void *(*_ZnwmSt11align_val_tRKSt9nothrow_t)(size_t, size_t, const void *);
    void *(*_ZnamSt11align_val_tRKSt9nothrow_t)(size_t, size_t, const void *);
    void (*_ZdlPv)(void *);
    void (*_ZdaPv)(void *);
    void (*_ZdlPvRKSt9nothrow_t)(void *, const void *);
    void (*_ZdaPvRKSt9nothrow_t)(void *, const void *);
    void (*_ZdlPvm)(void *, size_t);
    void (*_ZdaPvm)(void *, size_t);
    void (*_ZdlPvSt11align_val_t)(void *, size_t);
    void (*_ZdaPvSt11align_val_t)(void *, size_t);
    void (*_ZdlPvSt11align_val_tRKSt9nothrow_t)(void *, size_t, const void *);
    void (*_ZdaPvSt11align_val_tRKSt9nothrow_t)(void *, size_t, const void *);
    void (*_ZdlPvmSt11align_val_t)(void *, size_t, size_t);
    void (*_ZdaPvmSt11align_val_t)(void *, size_t, size_t);
};

extern struct operators operators __attribute__((visibility("hidden")));

/* From the constructor: finds the next operators and whether the program has its own. */
void operator_new_start(void);

/* The operator of libstdc++ with this mangled name, for a request that has failed; may load
 * nothing and allocate little. Ends the program when there is none (no C++ runtime can call us
 * then). Not hook-safe, as throwing is not. */
void *operator_of_libstdcxx(const char *name);

#define OPERATOR_OF_LIBSTDCXX(name)                                                                \
    ((__typeof__(operators.name))(operators.name != NULL ? (void *)operators.name                  \
                                                         : operator_of_libstdcxx(#name)))

#endif
