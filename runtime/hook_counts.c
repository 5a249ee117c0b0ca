/* hook_counts.c: the counters of a stack and the peak of the process.
 *
 * Hook-safe: the one lock is a stack's sequence word, held over a few dozen instructions and never
 * waited for by the thread that holds it; a waiter that sees no end of it (the program has
 * overwritten the word) takes it by force.
 *
 * The peak costs O(1) a change and nothing is copied. Each time live bytes pass the old peak, the
 * peak's number (epoch) is raised. A stack remembers what it held when it first changes after that.
 * Why this is exact with threads: live, peak and epoch move together in one compare and swap, so
 * the swaps are in one order, and the swap that set the peak numbered E splits all changes in those
 * before and those after it. A change after it saw epoch E in its swap, hence saves the stack's
 * values, under the stack's lock, before it alters them. A change before it saw an older epoch,
 * hence saves nothing for E; the lock makes any later change of that stack wait until it is done.
 * So what is saved for E is the sum of exactly the changes before the peak. Where changes may be
 * late (hook_live.h) it is that of the changes before some moment close to it. */
#include "runtime/hook_counts.h"

#include <limits.h>
#include <time.h>

#include "proto/store_layout.h"
#include "runtime/hook_labels.h"
#include "runtime/hook_live.h"
#include "runtime/hook_pages.h"
#include "runtime/hook_sampler.h"
#include "runtime/hook_shared.h"
#include "runtime/hook_store.h"
#include "runtime/hook_syscall.h"
#include "runtime/hook_thread.h"
#include "runtime/hook_weight.h"

/* What a stack holds, in private memory: a forked child's copy of it stands still. The version
 * says which of the two is valid, so that a fork in the middle of a change finds a whole one. */
struct held_value {
    struct store_counts counts;
    struct store_wide born;
    struct store_variance variance;
};

struct held {
    struct held_value value[2];
    uint64_t version;
};

static bool has_variances; /* not at rate 1 */
static struct held *held;  /* by stack, made usable as stacks come up: held_pages */
static struct pages_growing held_pages = {.step_bytes = 16 * PAGES_SIZE};

static uint64_t temporary_ticks;

/* Changes that a signal handler made to a stack whose lock its own thread holds, or another thread
 * while its own holds one; all others are made at once. Small, since it is taken from every
 * thread's stack. */
enum { PENDING_MAX = 8, LOCKED_MAX = 4 };
static __thread struct {
    struct {
        struct counts_change change;
        _Atomic uint32_t ready;
    } entry[PENDING_MAX];
    _Atomic uint32_t head, tail;
    _Atomic uint32_t locked[LOCKED_MAX]; /* stacks, outermost first */
    _Atomic uint32_t depth;              /* changes that this thread is in */
} pending;

/* --- the stack's lock ------------------------------------------------------------------------ */

enum { SPINS_BEFORE_SLEEP = 200, SLEEPS_BEFORE_FORCE = 1000 };

/* Locks the stack; *sequence is to be given to unlock_stack. The holder never sleeps in there, but
 * it may be off its processor: after some spins wait a millisecond at a time, and at last take the
 * lock by force. False, after the spins, when patient is not set: who holds another stack's lock
 * must not wait, since the two threads might wait for each other. */
static bool lock_contended(struct store_stack *stack, bool patient, uint32_t *sequence)
{
    unsigned sleeps = 0;
    labels_contended();
    for (unsigned spins = 0;; spins++) {
        uint32_t seen = shared_load_u32(&stack->sequence, memory_order_relaxed);
        if (LIKELY((seen & 1) == 0)) {
            *sequence = seen + 1;
            if (shared_swap_u32(&stack->sequence, &seen, seen + 1))
                return true;
        } else if (spins > SPINS_BEFORE_SLEEP) {
            if (!patient)
                return false;
            if (++sleeps > SLEEPS_BEFORE_FORCE) {
                store_loss(STORE_LOSS_LOCK_FORCED, 0);
                *sequence = seen;
                return true;
            }
            struct timespec millisecond = {.tv_nsec = 1000000};
            raw_syscall4(SYS_futex, (long)&stack->sequence, 0 /* FUTEX_WAIT */, seen,
                         (long)&millisecond);
        }
        __builtin_ia32_pause();
    }
}

/* Alone there is nobody to wait for: a handler that comes in between defers what it does to the
 * stack (must_wait). */
static inline bool lock_stack(struct store_stack *stack, bool alone, bool patient,
                              uint32_t *sequence)
{
    uint32_t seen = shared_load_u32(&stack->sequence, memory_order_relaxed) & ~1u;
    *sequence = seen + 1;
    if (alone) {
        shared_store_u32(&stack->sequence, seen + 1, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst);
        return true;
    }
    return LIKELY(shared_swap_u32(&stack->sequence, &seen, seen + 1)) ||
           lock_contended(stack, patient, sequence);
}

static void unlock_stack(struct store_stack *stack, uint32_t sequence)
{
    /* Release: pairs with the acquire in lock_stack and with the collector's reading. */
    shared_store_u32(&stack->sequence, sequence + 1, memory_order_release);
}

/* --- one change ------------------------------------------------------------------------------ */

typedef unsigned __int128 wide;

static inline wide wide_of(const struct store_wide *sum)
{
    return (wide)sum->high << 64 | sum->low;
}

static inline void set_wide(struct store_wide *sum, wide value)
{
    sum->low = (uint64_t)value;
    sum->high = (uint64_t)(value >> 64);
}

static inline void add_wide(struct store_wide *sum, wide more)
{
    set_wide(sum, wide_of(sum) + more);
}

/* What one object adds to the counters and to their variances. */
struct delta {
    struct store_counts counts;
    wide bytes_variance;
    wide objects_variance_q16;
};

/* The estimate of an object of size s drawn with probability p counts w = 1 / p objects and s w
 * bytes, with variances (1 - p) / p^2 = w (w - 1) and s^2 w (w - 1) (Horvitz-Thompson). */
static struct delta delta_of(uint64_t size, uint64_t weight_q16)
{
    struct delta delta = {.counts = {.objects_q16 = weight_q16, .bytes = size, .samples = 1}};
    if (weight_q16 == WEIGHT_ONE_Q16)
        return delta;
    delta.counts.bytes = weight_bytes(size, weight_q16);
    delta.bytes_variance = (wide)delta.counts.bytes * (delta.counts.bytes - size);
    delta.objects_variance_q16 = (wide)weight_q16 * (weight_q16 - WEIGHT_ONE_Q16) >> 16;
    return delta;
}

static void add_counts(struct store_counts *counts, const struct store_counts *more)
{
    counts->objects_q16 += more->objects_q16;
    counts->bytes += more->bytes;
    counts->samples += more->samples;
}

static void take_counts(struct store_counts *counts, const struct store_counts *less)
{
    counts->objects_q16 -= less->objects_q16;
    counts->bytes -= less->bytes;
    counts->samples -= less->samples;
}

static bool has_variance(const struct delta *delta)
{
    return delta->objects_variance_q16 != 0;
}

static void count_allocated(struct store_stack *stack, const struct delta *delta, moment born)
{
    add_counts(&stack->alloc, &delta->counts);
    add_counts(&stack->inuse, &delta->counts);
    add_wide(&stack->born, (wide)moment_ticks(born) * delta->counts.objects_q16);
    if (!has_variance(delta))
        return;
    add_wide(&stack->alloc_variance.bytes, delta->bytes_variance);
    add_wide(&stack->alloc_variance.objects, delta->objects_variance_q16);
    add_wide(&stack->inuse_variance.bytes, delta->bytes_variance);
    add_wide(&stack->inuse_variance.objects, delta->objects_variance_q16);
}

static void count_lifetime(struct store_lifetimes *lifetimes, uint64_t weight_q16, moment born,
                           moment now)
{
    uint64_t ticks = moment_ticks_between(born, now);
    add_wide(&lifetimes->sum, (wide)ticks * weight_q16);
    if (ticks < lifetimes->shortest - 1) /* 0 - 1: none so far */
        lifetimes->shortest = ticks + 1;
    if (ticks > lifetimes->longest)
        lifetimes->longest = ticks;
    if (ticks < temporary_ticks)
        lifetimes->temporary_q16 += weight_q16;
    if (!moment_same_thread(born, now))
        lifetimes->foreign_q16 += weight_q16;
}

static void count_freed(struct store_stack *stack, const struct delta *delta, moment born,
                        moment now)
{
    take_counts(&stack->inuse, &delta->counts);
    add_wide(&stack->born, -((wide)moment_ticks(born) * delta->counts.objects_q16));
    count_lifetime(&stack->lifetimes, delta->counts.objects_q16, born, now);
    if (!has_variance(delta))
        return;
    add_wide(&stack->inuse_variance.bytes, -delta->bytes_variance);
    add_wide(&stack->inuse_variance.objects, -delta->objects_variance_q16);
}

static void save_peak(struct store_stack *stack, uint32_t epoch)
{
    stack->saved = stack->inuse;
    stack->saved_variance = stack->inuse_variance;
    stack->saved_epoch = epoch;
}

/* Word by word: a load of two words at once waits until the stores of both are through. */
static inline void copy_word(uint64_t *to, uint64_t *from)
{
    *to = shared_load_u64(from, memory_order_relaxed);
}

static void keep_held(uint32_t id, struct store_stack *stack)
{
    uint64_t version = held[id].version + 1;
    struct held_value *value = &held[id].value[version & 1];
    copy_word(&value->counts.objects_q16, &stack->inuse.objects_q16);
    copy_word(&value->counts.bytes, &stack->inuse.bytes);
    copy_word(&value->counts.samples, &stack->inuse.samples);
    copy_word(&value->born.low, &stack->born.low);
    copy_word(&value->born.high, &stack->born.high);
    if (has_variances)
        value->variance = stack->inuse_variance;
    __asm__ volatile("" ::: "memory"); /* a fork copies what is written in program order */
    held[id].version = version;
}

/* False, with nothing done, when the stack is locked and patient is not set. */
static bool apply(const struct counts_change *change, bool patient)
{
    struct delta delta = delta_of(change->size, change->weight_q16);
    struct store_stack *stack = &store.stacks[change->stack];
    bool alone = thread_is_alone();
    uint32_t sequence;
    if (!lock_stack(stack, alone, patient, &sequence))
        return false;
    uint32_t epoch = live_move(delta.counts.bytes, change->freed, alone);
    if (stack->saved_epoch != epoch)
        save_peak(stack, epoch);
    if (change->freed)
        count_freed(stack, &delta, change->born, change->now);
    else
        count_allocated(stack, &delta, change->born);
    keep_held(change->stack, stack);
    unlock_stack(stack, sequence);
    return true;
}

static void put_pending(const struct counts_change *change)
{
    /* One instruction takes the place, so that a handler inside this one takes another. */
    uint32_t place = atomic_fetch_add_explicit(&pending.tail, 1, memory_order_relaxed);
    if (place - atomic_load_explicit(&pending.head, memory_order_relaxed) >= PENDING_MAX) {
        store_loss(STORE_LOSS_REENTRANT, weight_bytes(change->size, change->weight_q16));
        return;
    }
    place %= PENDING_MAX;
    pending.entry[place].change = *change;
    atomic_store_explicit(&pending.entry[place].ready, 1, memory_order_release);
}

/* Whether the change has to wait for one that this thread is in the middle of. */
static bool must_wait(uint32_t stack, uint32_t depth)
{
    if (depth >= LOCKED_MAX)
        return true;
    for (uint32_t i = 0; i < depth; i++)
        if (atomic_load_explicit(&pending.locked[i], memory_order_relaxed) == stack)
            return true;
    return false;
}

static bool apply_marked(const struct counts_change *change, uint32_t depth)
{
    atomic_store_explicit(&pending.locked[depth], change->stack, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&pending.depth, depth + 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    bool done = apply(change, depth == 0);
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&pending.depth, depth, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return done;
}

/* Only the outermost change takes the waiting ones along: none of this thread's locks is held. */
static void apply_pending(void)
{
    uint32_t head = atomic_load_explicit(&pending.head, memory_order_relaxed);
    while (UNLIKELY(head != atomic_load_explicit(&pending.tail, memory_order_relaxed))) {
        uint32_t place = head % PENDING_MAX;
        if (atomic_exchange_explicit(&pending.entry[place].ready, 0, memory_order_acquire)) {
            struct counts_change change = pending.entry[place].change;
            atomic_store_explicit(&pending.head, ++head, memory_order_relaxed);
            apply_marked(&change, 0);
        } else {
            atomic_store_explicit(&pending.head, ++head, memory_order_relaxed);
        }
    }
}

void counts_change(const struct counts_change *change)
{
    if (UNLIKELY(change->stack >= store.geometry.stack_capacity))
        return;
    uint32_t depth = atomic_load_explicit(&pending.depth, memory_order_relaxed);
    if (UNLIKELY(must_wait(change->stack, depth) || !apply_marked(change, depth)))
        put_pending(change);
    if (depth == 0)
        apply_pending();
}

/* --- start and fork -------------------------------------------------------------------------- */

void counts_set_temporary(uint64_t ticks)
{
    temporary_ticks = ticks;
}

bool counts_start(void)
{
    size_t bytes = pages_up(store.geometry.stack_capacity * sizeof(struct held));
    held_pages.base = pages_reserve(0, bytes);
    held_pages.limit_bytes = bytes;
    has_variances = store.header->rate != 1;
    live_start(store.header->rate == 1);
    held_pages.usable_bytes = 0;
    held = (struct held *)held_pages.base;
    return held != NULL && counts_make_room(STORE_STACK_OTHER);
}

uint64_t counts_overhead_bytes(void)
{
    uint64_t stacks = shared_load_u32(&store.header->stack_count, memory_order_relaxed);
    return stacks * sizeof(struct held);
}

bool counts_make_room(uint32_t stack)
{
    return pages_grow(&held_pages, (stack + 1) * sizeof(struct held));
}

/* NULL: nothing was ever counted there. */
static const struct held_value *held_of(uint32_t stack)
{
    if (!pages_usable(&held_pages, (stack + 1) * sizeof(struct held)))
        return NULL;
    return &held[stack].value[held[stack].version & 1];
}

bool counts_holds(uint32_t stack)
{
    const struct held_value *value = held_of(stack);
    return value != NULL && value->counts.samples != 0;
}

void counts_restore(uint32_t stack_count)
{
    uint64_t live = 0;
    for (uint32_t id = 1; id < stack_count; id++) {
        const struct held_value *value = held_of(id);
        if (store.stacks[id].node == 0 || value == NULL)
            continue;
        struct store_stack *stack = &store.stacks[id];
        stack->inuse = value->counts;
        stack->alloc = value->counts;
        stack->born = value->born;
        stack->inuse_variance = value->variance;
        stack->alloc_variance = value->variance;
        live += value->counts.bytes;
    }
    live_restart(live & STORE_LIVE_MASK);
    atomic_store_explicit(&pending.head, 0, memory_order_relaxed);
    atomic_store_explicit(&pending.tail, 0, memory_order_relaxed);
    atomic_store_explicit(&pending.depth, 0, memory_order_relaxed);
}
