/* hook_heap_gate.c: who is inside the private heap.
 *
 * Hook-safe; heap_gate_close waits, and runs only at a fork.
 *
 * A thread's place is in a table, not in its thread-local storage, so that the forking thread can
 * look at all of them. Places of threads that have ended are given back by heap_gate_thread_end;
 * those where it did not run (threads made by raw clone) are found by asking the kernel. */
#include "runtime/hook_heap_gate.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <time.h>

#include "runtime/hook_syscall.h"

enum {
    PLACES = 4096,   /* threads at one time; more of them use the other holders */
    WAIT_MS = 50,    /* for others to leave; a visit takes a microsecond, but may be preempted */
    SWEEP_EVERY = 64 /* failed claims between two searches for dead threads' places */
};

__thread struct heap_gate_place *heap_gate_mine;
_Atomic bool heap_gate_closed = true;
void (*heap_gate_watch_thread)(struct heap_gate_place *place);

static struct heap_gate_place places[PLACES];
static _Atomic uint32_t places_used; /* all used ones lie below */
static _Atomic uint32_t failed_claims;
static _Atomic uint32_t closers; /* forks in progress */
static _Atomic bool somebody_inside;
static bool started;
static bool broken; /* a forked child whose parent had a thread inside */
static void (*at_thread_end)(void);

static uint32_t thread_id(void)
{
    return (uint32_t)raw_syscall0(SYS_gettid);
}

static bool thread_is_alive(uint32_t thread)
{
    return raw_syscall3(SYS_tgkill, raw_syscall0(SYS_getpid), (long)thread, 0) != -ESRCH;
}

static uint64_t now_ms(void)
{
    struct timespec now = {0, 0};
    raw_syscall2(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static struct heap_gate_place *place_take(uint32_t thread)
{
    for (uint32_t i = 0; i < PLACES; i++) {
        uint32_t none = 0;
        if (atomic_load_explicit(&places[i].thread, memory_order_relaxed) != 0 ||
            !atomic_compare_exchange_strong_explicit(&places[i].thread, &none, thread,
                                                     memory_order_acq_rel, memory_order_relaxed))
            continue;
        atomic_store_explicit(&places[i].inside, 0, memory_order_relaxed);
        uint32_t used = atomic_load_explicit(&places_used, memory_order_relaxed);
        while (used < i + 1 &&
               !atomic_compare_exchange_weak_explicit(&places_used, &used, i + 1,
                                                      memory_order_relaxed, memory_order_relaxed))
            continue;
        return &places[i];
    }
    return NULL;
}

static void places_sweep(void)
{
    for (uint32_t i = 0; i < PLACES; i++) {
        uint32_t thread = atomic_load_explicit(&places[i].thread, memory_order_relaxed);
        if (thread != 0 && !thread_is_alive(thread))
            atomic_compare_exchange_strong_explicit(&places[i].thread, &thread, 0,
                                                    memory_order_relaxed, memory_order_relaxed);
    }
}

/* The end of a thread: first among the destructors of a round, as the key was made first. The
 * heap's own end of thread must not fall into a fork either, so it waits; forks are short. */
void heap_gate_thread_end(void *place)
{
    struct heap_gate_place *mine = place;
    heap_gate_mine = mine;
    bool entered = heap_gate_enter();
    for (uint64_t end = 0; !entered && !broken && mine->inside == 0;) {
        end = end == 0 ? now_ms() + 20 * WAIT_MS : end;
        if (now_ms() >= end)
            break;
        raw_syscall0(SYS_sched_yield);
        entered = heap_gate_enter();
    }
    if (entered) {
        at_thread_end();
        heap_gate_leave();
    }
    heap_gate_mine = NULL;
    /* Release: pairs with the acquire in place_take. */
    atomic_store_explicit(&mine->thread, 0, memory_order_release);
}

bool heap_gate_claim(void)
{
    if (atomic_load_explicit(&heap_gate_closed, memory_order_relaxed))
        return false;
    uint32_t thread = thread_id();
    struct heap_gate_place *place = place_take(thread);
    if (place == NULL) {
        if (atomic_fetch_add_explicit(&failed_claims, 1, memory_order_relaxed) % SWEEP_EVERY == 0)
            places_sweep();
        return false;
    }
    if (heap_gate_mine != NULL) { /* a signal handler was quicker */
        atomic_store_explicit(&place->thread, 0, memory_order_release);
        return true;
    }
    /* Inside, so as not to come here again when watching allocates. */
    atomic_store_explicit(&place->inside, 1, memory_order_relaxed);
    heap_gate_mine = place;
    heap_gate_watch_thread(place);
    atomic_store_explicit(&place->inside, 0, memory_order_relaxed);
    return true;
}

void heap_gate_open(void (*at_end)(void))
{
    at_thread_end = at_end;
    started = true;
    atomic_store_explicit(&heap_gate_closed, false, memory_order_release);
}

/* The caller itself may be, in a signal handler: then it goes on where it was, in the child too. */
static bool others_inside(void)
{
    uint32_t used = atomic_load_explicit(&places_used, memory_order_relaxed);
    for (uint32_t i = 0; i < used; i++)
        /* Acquire: pairs with the release in heap_gate_leave. */
        if (atomic_load_explicit(&places[i].inside, memory_order_acquire) != 0 &&
            &places[i] != heap_gate_mine &&
            atomic_load_explicit(&places[i].thread, memory_order_relaxed) != 0)
            return true;
    return false;
}

void heap_gate_close(void)
{
    if (!started)
        return;
    atomic_fetch_add_explicit(&closers, 1, memory_order_acq_rel);
    atomic_store_explicit(&heap_gate_closed, true, memory_order_seq_cst);
    /* From here on every thread has either marked itself or will see the gate closed. */
    raw_syscall3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    bool inside = others_inside();
    for (uint64_t end = inside ? now_ms() + WAIT_MS : 0; inside && now_ms() < end;) {
        raw_syscall0(SYS_sched_yield);
        inside = others_inside();
    }
    atomic_store_explicit(&somebody_inside, inside, memory_order_relaxed);
}

void heap_gate_open_parent(void)
{
    /* Two threads may fork at once: the last one opens. */
    if (started && atomic_fetch_sub_explicit(&closers, 1, memory_order_acq_rel) == 1 && !broken)
        atomic_store_explicit(&heap_gate_closed, false, memory_order_release);
}

void heap_gate_open_child(void)
{
    if (!started)
        return;
    uint32_t thread = thread_id();
    for (uint32_t i = 0; i < places_used; i++)
        atomic_store_explicit(&places[i].thread, &places[i] == heap_gate_mine ? thread : 0,
                              memory_order_relaxed);
    atomic_store_explicit(&closers, 0, memory_order_relaxed);
    if (atomic_load_explicit(&somebody_inside, memory_order_relaxed))
        broken = true;
    if (!broken)
        atomic_store_explicit(&heap_gate_closed, false, memory_order_release);
}

uint64_t heap_gate_overhead_bytes(void)
{
    return sizeof(struct heap_gate_place) *
           (uint64_t)atomic_load_explicit(&places_used, memory_order_relaxed);
}
