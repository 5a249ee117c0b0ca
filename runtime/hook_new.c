/* hook_new.c: operator new and delete in all their forms.
 *
 * Hook-safe but for failure. They are here so that the leaf of a stack is the function that wrote
 * `new`, and so that a delete that does not end in free() still knows our objects. An unsampled
 * object comes from the next malloc, as libstdc++'s own operators would have it. When there is no
 * memory, libstdc++'s operator is called after all: it asks the new handler and throws
 * (operator_new.h).
 *
 * A program may replace some of the operators and expect the others to call them ([new.delete] in
 * the C++ standard: new[] calls new, and so on). Then ours stand aside: each passes on to
 * libstdc++'s own, which does call the replacement. */
#include <stddef.h>

#include "runtime/hook_event.h"
#include "runtime/hook_sampler.h"
#include "runtime/operator_new.h"

/* Types of the C++ ABI as C sees them: align_val_t is a size_t, nothrow_t const & a pointer. */

struct operators operators;

static SAMPLED_HALF void *sampled_new(size_t size, size_t alignment)
{
    bool plain = alignment <= 16;
    void *p = NULL;
    bool hit = sampler_hit(size) && size <= PTRDIFF_MAX;
    if (hit)
        p = event_allocate(size, plain ? 16 : alignment, false);
    if (p != NULL)
        return p;
    p = plain ? next.malloc(size) : next.aligned_alloc(alignment, size);
    if (p != NULL && hit)
        event_missed(size);
    return p;
}

static inline void *new_plain(size_t size)
{
    if (LIKELY(sampler_passes(size)))
        return next.malloc(size);
    return sampled_new(size, 16);
}

static inline void *new_aligned(size_t size, size_t alignment)
{
    if (LIKELY(sampler_passes(size)))
        return next.aligned_alloc(alignment, size);
    return sampled_new(size, alignment);
}

/* One operator new: NAME(PARAMETERS) whose object comes from OBJECT; with ARGUMENTS it is passed to
 * libstdc++'s own where the program has replacements or there is no memory. */
#define OPERATOR_NEW(name, parameters, arguments, object)                                          \
    HOOK void *name parameters;                                                                    \
    HOOK void *name parameters                                                                     \
    {                                                                                              \
        if (UNLIKELY(operators.replaced))                                                          \
            return operators.name arguments;                                                       \
        void *p = object;                                                                          \
        if (LIKELY(p != NULL))                                                                     \
            return p;                                                                              \
        return OPERATOR_OF_LIBSTDCXX(name) arguments;                                              \
    }

OPERATOR_NEW(_Znwm, (size_t size), (size), new_plain(size))
OPERATOR_NEW(_Znam, (size_t size), (size), new_plain(size))
OPERATOR_NEW(_ZnwmRKSt9nothrow_t, (size_t size, const void *nothrow), (size, nothrow),
             new_plain(size))
OPERATOR_NEW(_ZnamRKSt9nothrow_t, (size_t size, const void *nothrow), (size, nothrow),
             new_plain(size))
OPERATOR_NEW(_ZnwmSt11align_val_t, (size_t size, size_t alignment), (size, alignment),
             new_aligned(size, alignment))
OPERATOR_NEW(_ZnamSt11align_val_t, (size_t size, size_t alignment), (size, alignment),
             new_aligned(size, alignment))
OPERATOR_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t,
             (size_t size, size_t alignment, const void *nothrow), (size, alignment, nothrow),
             new_aligned(size, alignment))
OPERATOR_NEW(_ZnamSt11align_val_tRKSt9nothrow_t,
             (size_t size, size_t alignment, const void *nothrow), (size, alignment, nothrow),
             new_aligned(size, alignment))

/* One operator delete. libstdc++'s, and the program's own if it is right, end in free(). */
#define OPERATOR_DELETE(name, parameters, arguments)                                               \
    HOOK void name parameters;                                                                     \
    HOOK void name parameters                                                                      \
    {                                                                                              \
        if (UNLIKELY(operators.replaced))                                                          \
            operators.name arguments;                                                              \
        else                                                                                       \
            event_free_any(p);                                                                     \
    }

OPERATOR_DELETE(_ZdlPv, (void *p), (p))
OPERATOR_DELETE(_ZdaPv, (void *p), (p))
OPERATOR_DELETE(_ZdlPvRKSt9nothrow_t, (void *p, const void *nothrow), (p, nothrow))
OPERATOR_DELETE(_ZdaPvRKSt9nothrow_t, (void *p, const void *nothrow), (p, nothrow))
OPERATOR_DELETE(_ZdlPvm, (void *p, size_t size), (p, size))
OPERATOR_DELETE(_ZdaPvm, (void *p, size_t size), (p, size))
OPERATOR_DELETE(_ZdlPvSt11align_val_t, (void *p, size_t alignment), (p, alignment))
OPERATOR_DELETE(_ZdaPvSt11align_val_t, (void *p, size_t alignment), (p, alignment))
OPERATOR_DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t,
                (void *p, size_t alignment, const void *nothrow), (p, alignment, nothrow))
OPERATOR_DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t,
                (void *p, size_t alignment, const void *nothrow), (p, alignment, nothrow))
OPERATOR_DELETE(_ZdlPvmSt11align_val_t, (void *p, size_t size, size_t alignment),
                (p, size, alignment))
OPERATOR_DELETE(_ZdaPvmSt11align_val_t, (void *p, size_t size, size_t alignment),
                (p, size, alignment))
