/* hook_stack_bounds.c: learns what can be read without asking a libc that may lock or allocate.
 *
 * Hook-safe: runs in the target's malloc on any thread, also in signal handlers. glibc puts a
 * thread's control block, where %fs points, at the top of the thread's stack; the main thread's
 * stack ends with the strings that the kernel put there. So the top is known in one instruction,
 * but not whether sp is really on that stack: it may be on a coroutine's, mapped somewhere below.
 * The thread's own stack has no hole between sp and its top, so once a thread
 * madvise(MADV_POPULATE_READ) is asked, which fails at a hole and at a guard page. It is asked from
 * the top down: a stack of its own that sp is not on ends at its guard page, and only pages of that
 * stack have become resident, never a foreign mapping between the two. The lowest address so
 * verified and the highest refused are kept per thread.
 * Before Linux 5.14 nothing can be asked: then sp counts as on the thread's stack when it is within
 * the usual stack size of the top, and of any other stack only sp's page is read.
 * Source: madvise(2); glibc nptl/allocatestack.c (the control block's place). */
#include "runtime/hook_stack_bounds.h"

#include <errno.h>
#include <sys/mman.h>

#include "runtime/hook_syscall.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

static const uintptr_t page_bytes = 4096;
static const uintptr_t chunk_bytes = 1 << 20;
static const uintptr_t largest_stack_bytes = 1 << 30;

/* Written once, in the constructor. */
static uintptr_t main_stack_top;
static uintptr_t main_control_block;
static uintptr_t trusted_bytes;
static bool can_probe;

/* The verified part of the thread's own stack is [low, top); sp below refused is not on it. A
 * signal handler that walks between two of the stores below finds a narrower interval or none. */
struct own_stack {
    uintptr_t low;
    uintptr_t top;
    uintptr_t refused;
};
static _Thread_local struct own_stack own_stack __attribute__((tls_model("initial-exec")));

static uintptr_t control_block(void)
{
    uintptr_t self;
    __asm__("mov %%fs:0, %0" : "=r"(self));
    return self;
}

static uintptr_t page_of(uintptr_t address)
{
    return address & -page_bytes;
}

enum probe_answer { PROBE_READABLE, PROBE_HOLE, PROBE_NO_ANSWER };

/* start and size in whole pages. */
static enum probe_answer probe_pages(uintptr_t start, uintptr_t size)
{
    long failure = can_probe
                       ? raw_syscall3(SYS_madvise, (long)start, (long)size, MADV_POPULATE_READ)
                       : -ENOSYS;
    if (failure == 0)
        return PROBE_READABLE;
    /* A seccomp filter set up later may refuse what was allowed at the start. */
    return failure == -EINVAL || failure == -EPERM || failure == -ENOSYS ? PROBE_NO_ANSWER
                                                                         : PROBE_HOLE;
}

bool stack_bounds_probe(uintptr_t address, size_t size)
{
    uintptr_t start = page_of(address);
    uintptr_t end;
    if (__builtin_add_overflow(address, size + page_bytes - 1, &end))
        return false;
    return probe_pages(start, page_of(end) - start) == PROBE_READABLE;
}

void stack_bounds_start(uintptr_t main_stack_end, size_t usual_stack_bytes)
{
    uintptr_t here = page_of((uintptr_t)__builtin_frame_address(0));
    main_stack_top = page_of(main_stack_end) + page_bytes;
    main_control_block = control_block();
    trusted_bytes = usual_stack_bytes;
    can_probe = raw_syscall3(SYS_madvise, (long)here, (long)page_bytes, MADV_POPULATE_READ) == 0;
}

/* The top of the calling thread's own stack when sp may be on it, else 0. */
static uintptr_t plausible_top(uintptr_t sp)
{
    uintptr_t self = control_block();
    uintptr_t top = self == main_control_block ? main_stack_top : page_of(self) + page_bytes;
    return sp < top && top - sp <= largest_stack_bytes ? top : 0;
}

/* Verifies [bottom, known) from the top down, known being verified already. */
static bool verify(uintptr_t bottom, uintptr_t known, uintptr_t top)
{
    while (known > bottom) {
        uintptr_t size = known - bottom < chunk_bytes ? known - bottom : chunk_bytes;
        enum probe_answer answer = probe_pages(known - size, size);
        if (answer == PROBE_NO_ANSWER)
            return top - bottom <= trusted_bytes;
        if (answer == PROBE_HOLE) {
            /* The main thread's stack grows: what is a hole now may be stack later. */
            if (top != main_stack_top)
                own_stack.refused = known - size;
            return false;
        }
        known -= size;
    }
    return true;
}

/* Makes sp's page part of the verified stack, if it is on it. */
static bool grow_own_stack(uintptr_t sp)
{
    uintptr_t top = plausible_top(sp);
    uintptr_t bottom = page_of(sp);
    uintptr_t known = own_stack.top == top ? own_stack.low : top;
    if (top == 0 || bottom <= own_stack.refused || !verify(bottom, known, top))
        return false;
    /* Emptied first: a handler between the stores must not see the old low with a new top. */
    *(volatile uintptr_t *)&own_stack.top = 0;
    *(volatile uintptr_t *)&own_stack.low = bottom;
    *(volatile uintptr_t *)&own_stack.top = top;
    return true;
}

/* low and high in whole pages. */
static void set(struct stack_bounds *bounds, uintptr_t low, uintptr_t high)
{
    bounds->low = low;
    bounds->words = high > low ? high - low - 7 : 0;
}

void stack_bounds_init(struct stack_bounds *bounds, uintptr_t sp, bool live)
{
    bool own = (sp >= own_stack.low && sp < own_stack.top) || grow_own_stack(sp);
    if (own)
        set(bounds, own_stack.low, own_stack.top);
    else
        set(bounds, page_of(sp), page_of(sp) + (live ? page_bytes : 0));
}

bool stack_bounds_widen(struct stack_bounds *bounds, uintptr_t address)
{
    uintptr_t low = bounds->low;
    uintptr_t high = bounds->words != 0 ? low + bounds->words + 7 : low;
    uintptr_t start = page_of(address);
    uintptr_t end;
    if (__builtin_add_overflow(address, 8 + page_bytes - 1, &end))
        return false;
    end = page_of(end);
    /* A word across the end of the bounds: its first page is known already. */
    if (start >= low && start < high)
        start = high;
    if (probe_pages(start, end - start) != PROBE_READABLE)
        return false;
    if (start == high)
        set(bounds, low, end);
    else if (end == low)
        set(bounds, start, high);
    else
        set(bounds, start, end);
    return true;
}
