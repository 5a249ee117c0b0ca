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

#include "runtime/hook_caller_stack.h"
#include "runtime/hook_stack.h"
#include "runtime/hook_store.h"

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

/* Reads the stack with this id from the store. */
static inline void oracle_read(uint32_t id, struct oracle_stack *stack)
{
    stack->count = 0;
    stack->end = STACK_END_ROOT;
    for (uint32_t node = store.stacks[id].node; node != 0; node = store.nodes[node].parent) {
        uint64_t pc = store.nodes[node].pc_word & STORE_PC_MASK;
        /* Where the tables are wrong, a frame may have such a pc too, but never at the root. */
        if (pc < STORE_FRAME_FIRST_PC && store.nodes[node].parent == 0)
            stack->end = pc == STORE_FRAME_TRUNCATED ? STACK_END_UNKNOWN : STACK_END_DEPTH;
        else if (stack->count < STACK_MAX_FRAMES)
            stack->pcs[stack->count++] = pc;
    }
}

/* The stack as events see it: with the memory of the last one, and interned. Frame 0 is
 * caller_stack's own, as it is linked into the program here; the caller of this function is
 * frame 1.
 */
static inline __attribute__((always_inline)) void oracle_remembered(struct oracle_stack *stack)
{
    oracle_read(caller_stack(), stack);
}

/* Whether two stacks are equal from the frames a_from and b_from on, and both reach their root or
 * both do not; says on stderr where they part. A pc counts as far as the store keeps it: where
 * tables are wrong, any word may be taken for one. */
static inline bool oracle_same(const char *what, const struct oracle_stack *a, size_t a_from,
                               const struct oracle_stack *b, size_t b_from)
{
    bool full = b->end == STACK_END_DEPTH; /* then one more frame of the other has been cut */
    for (size_t i = a_from, j = b_from; i < a->count && j < b->count; i++, j++) {
        if (((a->pcs[i] ^ b->pcs[j]) & STORE_PC_MASK) != 0) {
            fprintf(stderr, "frame %zu: %#lx, %s %#lx\n", i, (long)a->pcs[i], what,
                    (long)b->pcs[j]);
            return false;
        }
    }
    if ((a->count - a_from == b->count - b_from || full) &&
        (a->end == STACK_END_ROOT) == (b->end == STACK_END_ROOT))
        return true;
    fprintf(stderr, "%zu frames further out, %s %zu; ends %d and %d\n", a->count - a_from, what,
            b->count - b_from, (int)a->end, (int)b->end);
    return false;
}

/* Whether all see the same frames outside the caller of this function, which is frame 1: ours,
 * theirs and, once there is a store, what events see. Says on stderr where they part. */
static inline __attribute__((always_inline)) bool oracle_agrees(struct oracle_stack *ours,
                                                                struct oracle_stack *theirs)
{
    unw_context_t context;
    unw_cursor_t cursor;
    /* Frame 0 is in here three times, at as many call sites. */
    ours->count = stack_capture(ours->pcs, STACK_MAX_FRAMES, &ours->end);
    if (store.header != NULL) {
        oracle_remembered(theirs);
        if (!oracle_same("without memory", theirs, 2, ours, 1))
            return false;
    }
    if (unw_getcontext(&context) != 0 || unw_init_local(&cursor, &context) != 0)
        return false;
    oracle_unwind(&cursor, theirs);
    return ours->count > 1 && oracle_same("libunwind says", ours, 1, theirs, 1);
}

#endif
