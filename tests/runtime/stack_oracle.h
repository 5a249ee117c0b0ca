/* stack_oracle.h: one stack seen by two unwinders: stack_capture and libunwind's local unwinding.
 *
 * For tests only: libunwind's local mode is nothing for a target. Included by each test program,
 * as tests of the runtime are linked with its objects alone. */
#ifndef HEAPPROF_TESTS_RUNTIME_STACK_ORACLE_H
#define HEAPPROF_TESTS_RUNTIME_STACK_ORACLE_H

#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/hook_stack.h"

struct oracle_stack {
    uint64_t pcs[STACK_MAX_FRAMES];
    size_t count;
    enum stack_end end;
};

/* Fills theirs with what libunwind sees from cursor on, in stack_capture's terms. libunwind calls
 * "signal frame" the one that was interrupted; the trampoline is the frame before it. */
static inline void oracle_unwind(unw_cursor_t *cursor, struct oracle_stack *theirs)
{
    int more = 1;
    theirs->count = 0;
    theirs->end = STACK_END_DEPTH;
    while (theirs->count < STACK_MAX_FRAMES && more > 0) {
        bool exact = unw_is_signal_frame(cursor) > 0;
        unw_word_t pc;
        if (exact)
            theirs->pcs[theirs->count - 1]++;
        if (unw_get_reg(cursor, UNW_REG_IP, &pc) < 0 || pc == 0) {
            more = 0;
            break;
        }
        theirs->pcs[theirs->count++] = exact ? pc : pc - 1;
        more = unw_step(cursor);
    }
    if (more <= 0)
        theirs->end = more == 0 ? STACK_END_ROOT : STACK_END_UNKNOWN;
}

/* Whether both see the same frames outside the caller of this function, which is frame 1; says on
 * stderr where they part. */
static inline __attribute__((always_inline)) bool oracle_agrees(struct oracle_stack *ours,
                                                                struct oracle_stack *theirs)
{
    unw_context_t context;
    unw_cursor_t cursor;
    ours->count = stack_capture(ours->pcs, STACK_MAX_FRAMES, &ours->end);
    if (unw_getcontext(&context) != 0 || unw_init_local(&cursor, &context) != 0)
        return false;
    oracle_unwind(&cursor, theirs);
    /* Frame 0 is in here twice, at two call sites. */
    for (size_t i = 1; i < ours->count && i < theirs->count; i++) {
        if (ours->pcs[i] != theirs->pcs[i]) {
            fprintf(stderr, "frame %zu: %#lx, libunwind says %#lx\n", i, (long)ours->pcs[i],
                    (long)theirs->pcs[i]);
            return false;
        }
    }
    if (ours->count == theirs->count && ours->count > 1)
        return true;
    fprintf(stderr, "%zu frames, libunwind has %zu\n", ours->count, theirs->count);
    return false;
}

#endif
