/* hook_libunwind.h: libunwind as the unwinder behind the table walker.
 *
 * Always "remote": libunwind sees the thread only through accessors of our own, so it reads nothing
 * unchecked, takes no loader lock and uses no descriptor. It runs on a stack of the runtime's own,
 * one thread at a time. */
#ifndef HEAPPROF_RUNTIME_HOOK_LIBUNWIND_H
#define HEAPPROF_RUNTIME_HOOK_LIBUNWIND_H

#include <libunwind.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/hook_stack.h"

/* What a function's caller sees in its registers, as the entry of stack_capture pushes them; the
 * caller's rsp is the address behind. rip is the return address. */
struct stack_registers {
    uint64_t rbx;
    uint64_t rbp;
    uint64_t r12;
    uint64_t r13;
    uint64_t r14;
    uint64_t r15;
    uint64_t rip;
};

/* The functions of the loaded library; space NULL: there is no library. Written once, in the
 * constructor. */
struct libunwind {
    unw_addr_space_t space;
    int (*init_remote)(unw_cursor_t *, unw_addr_space_t, void *);
    int (*step)(unw_cursor_t *);
    int (*get_reg)(unw_cursor_t *, unw_regnum_t, unw_word_t *);
    int (*is_signal_frame)(unw_cursor_t *);
    int (*search_unwind_table)(unw_addr_space_t, unw_word_t, unw_dyn_info_t *, unw_proc_info_t *,
                               int, void *);
};
extern struct libunwind libunwind __attribute__((visibility("hidden")));

/* For unw_create_addr_space; the argument of its functions is libunwind_walk's business. */
extern unw_accessors_t libunwind_accessors __attribute__((visibility("hidden")));

/* Loads the library (dlopen) and fills libunwind; closes the pipe that it opens. Only from the
 * constructor. False when it is not there, or is the target's own instance: then nothing is
 * changed. */
bool libunwind_load(void) __attribute__((visibility("hidden")));

/* The whole stack above registers into pcs[0..capacity), as stack_capture gives it. False, with
 * nothing written, when there is no library or another thread is using it. Hook-safe: blocks all
 * signals for the time; libunwind's only locks are taken with the signals blocked too, and only one
 * thread is ever in there. In a child forked in that time it stays false. errno kept. */
bool libunwind_walk(const struct stack_registers *registers, uint64_t *pcs, size_t capacity,
                    size_t *count, enum stack_end *end) __attribute__((visibility("hidden")));

/* In a forked child, at its start: where another thread of the parent was in a walk at the fork, a
 * lock of libunwind's own may be held for ever, and this process goes without it. */
void libunwind_restart(void);

#endif
