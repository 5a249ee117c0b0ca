/* hook_id_stack.h: a lock-free stack of small numbers.
 *
 * Treiber's stack (IBM RJ 5118, 1986) of 32-bit ids whose links live in the owner's table, with a
 * 32-bit count in the head against the ABA problem: the head changes with each push and each pop,
 * so a pop that was interrupted in the middle, by a signal handler or for long, fails and starts
 * again instead of linking to an id that has been somewhere else. Links are never freed, so reading
 * a stale one is harmless. Id 0 ends the stack. Hook-safe: any thread, signal handlers, fork. */
#ifndef HEAPPROF_RUNTIME_HOOK_ID_STACK_H
#define HEAPPROF_RUNTIME_HOOK_ID_STACK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Low half the topmost id, high half the number of changes; zero is the empty stack. */
struct id_stack {
    _Atomic uint64_t head;
};

static inline uint64_t id_stack_head(struct id_stack *stack)
{
    /* Acquire: pairs with the release in id_stack_push; the id's link and state are visible. */
    return atomic_load_explicit(&stack->head, memory_order_acquire);
}

static inline uint32_t id_stack_id(uint64_t head)
{
    return (uint32_t)head;
}

static inline uint64_t id_stack_next_head(uint64_t head, uint32_t id)
{
    return ((head >> 32) + 1) << 32 | id;
}

/* link is the link of id; id must not be in any stack. */
static inline void id_stack_push(struct id_stack *stack, uint32_t id, _Atomic uint32_t *link)
{
    uint64_t head = id_stack_head(stack);
    do
        atomic_store_explicit(link, id_stack_id(head), memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&stack->head, &head, id_stack_next_head(head, id),
                                                  memory_order_release, memory_order_acquire));
}

/* Takes off the top when the head is still the one seen; link is the link of its id. */
static inline bool id_stack_pop_seen(struct id_stack *stack, uint64_t head, _Atomic uint32_t *link)
{
    uint32_t next = atomic_load_explicit(link, memory_order_relaxed);
    return atomic_compare_exchange_strong_explicit(&stack->head, &head,
                                                   id_stack_next_head(head, next),
                                                   memory_order_acq_rel, memory_order_relaxed);
}

#endif
