/* hook_heap_gate.h: who is inside the private heap, so that nobody enters it twice.
 *
 * The private mimalloc is safe between threads, but not against a signal handler that interrupts it
 * on its own thread, nor in a child that was forked while another thread was in the middle of it
 * (it waits for that thread by spinning). So each thread marks in a place of its own that it is
 * inside. Whoever finds his own mark set, or the gate closed by a fork, goes elsewhere: nobody ever
 * waits here, but for the fork. */
#ifndef HEAPPROF_RUNTIME_HOOK_HEAP_GATE_H
#define HEAPPROF_RUNTIME_HOOK_HEAP_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One thread's place; a cache line each. */
struct heap_gate_place {
    _Atomic uint32_t thread; /* its kernel id; 0: free */
    _Atomic uint32_t inside;
} __attribute__((aligned(64)));

extern __thread struct heap_gate_place *heap_gate_mine
    __attribute__((visibility("hidden"), tls_model("initial-exec")));
extern _Atomic bool heap_gate_closed __attribute__((visibility("hidden")));

/* Prepares, the gate being closed: sees to it that forks close it and that ends of threads are
 * noticed. From the constructor, before the heap is loaded, so that the heap's destructors of
 * thread-specific data come after ours. False when the kernel or libc lacks what is needed: then
 * the gate must not be opened. Idempotent. In heap_gate_start.c. */
bool heap_gate_start(void);

/* Opens the gate; after heap_gate_start. at_thread_end runs inside it when a thread that has been
 * inside ends. */
void heap_gate_open(void (*at_thread_end)(void));

/* Set by heap_gate_start. Called on a thread that takes its place; has heap_gate_thread_end called
 * when the thread ends. May allocate; the thread counts as inside meanwhile. */
extern void (*heap_gate_watch_thread)(struct heap_gate_place *place)
    __attribute__((visibility("hidden")));

/* The thread with this place ends: runs at_thread_end inside the gate, and frees the place. */
void heap_gate_thread_end(void *place);

/* Slow half of heap_gate_enter: finds a place for the calling thread. */
bool heap_gate_claim(void);

/* True: the caller is inside, alone on this thread, until heap_gate_leave. Hook-safe. */
static inline bool heap_gate_enter(void)
{
    struct heap_gate_place *mine = heap_gate_mine;
    if (__builtin_expect(mine == NULL, 0)) {
        if (!heap_gate_claim())
            return false;
        mine = heap_gate_mine;
    }
    if (atomic_load_explicit(&mine->inside, memory_order_relaxed) != 0)
        return false;
    atomic_store_explicit(&mine->inside, 1, memory_order_relaxed);
    /* The mark must be visible before the gate is looked at. heap_gate_close makes it so by
     * membarrier(2), which costs nothing here; the compiler must keep the order. */
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&heap_gate_closed, memory_order_relaxed), 0)) {
        atomic_store_explicit(&mine->inside, 0, memory_order_relaxed);
        return false;
    }
    return true;
}

/* True when the caller could enter, and is one who has before. For what is done inside but leaves
 * nothing that a forked child could wait for: a fork does not wait for it. Hook-safe. */
static inline bool heap_gate_is_clear(void)
{
    struct heap_gate_place *mine = heap_gate_mine;
    return mine != NULL && atomic_load_explicit(&mine->inside, memory_order_relaxed) == 0 &&
           !atomic_load_explicit(&heap_gate_closed, memory_order_relaxed);
}

static inline void heap_gate_leave(void)
{
    /* Release: pairs with the acquire in heap_gate_close; what was done inside is complete. */
    atomic_store_explicit(&heap_gate_mine->inside, 0, memory_order_release);
}

/* Before fork: nobody enters any more, and waits a short while until no other thread is inside.
 * The three may be called without heap_gate_open, and do nothing then. */
void heap_gate_close(void);
/* After fork, in the parent. */
void heap_gate_open_parent(void);
/* After fork, in the child: opens, unless another thread was still inside; then it stays closed,
 * in the child's children too. */
void heap_gate_open_child(void);

/* Resident bytes of the places. */
uint64_t heap_gate_overhead_bytes(void);

#endif
