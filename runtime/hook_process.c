/* hook_process.c: a forked child claims a slot at its first event and fills it with what it holds.
 *
 * Hook-safe: no descriptor, no path, no lock of the target; mprotect, getpid and one futex wake.
 *
 * The child's counters come from private memory, copied by the fork itself: the parent's slot has
 * moved on since. Stacks and modules, which never change once they are there, are copied from the
 * parent's slot, so that the stack ids in the records the child has inherited stay true. If the
 * launcher has given that slot to somebody else meanwhile, the ids are kept and all of them read
 * [other stacks]. */
#include "runtime/hook_process.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "proto/store_layout.h"
#include "runtime/hook_clock.h"
#include "runtime/hook_counts.h"
#include "runtime/hook_event.h"
#include "runtime/hook_sampler.h"
#include "runtime/hook_store.h"
#include "runtime/hook_syscall.h"

struct process process;

enum { OWN_WIPED = 0, OWN_READY = 1, OWN_BEGINNING = 2 };

bool process_start(uint64_t rate, uint64_t seed, bool no_follow)
{
    long page = raw_syscall6(SYS_mmap, 0, STORE_PAGE, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw_failed(page))
        return false;
    if (raw_syscall3(SYS_madvise, page, STORE_PAGE, MADV_WIPEONFORK) != 0)
        return false;
    process.own = (_Atomic uint32_t *)page;
    atomic_store_explicit(process.own, OWN_READY, memory_order_relaxed);
    process.rate = rate;
    process.seed = seed;
    process.no_follow = no_follow;
    sampler_count_in(&store.header->counted_bytes, &store.header->counted_threads, process.own);
    sampler_configure(rate, seed, 0);
    /* Release: pairs with process_records. */
    atomic_store_explicit(&process.state, PROCESS_ACTIVE, memory_order_release);
    return true;
}

/* The index of a slot that is ours from now on; slot_count when all are taken. */
static uint32_t claim_slot(void)
{
    uint32_t count = store.slot_count;
    for (uint32_t step = 1; step <= count; step++) {
        uint32_t slot = (store.slot + step) % count;
        uint32_t state = STORE_ENTRY_FREE;
        if (shared_load_u32(&store.directory->entries[slot].state, memory_order_relaxed) == state &&
            shared_swap_u32(&store.directory->entries[slot].state, &state, STORE_ENTRY_CLAIMED))
            return slot;
    }
    return count;
}

static void copy_threads(const struct store *parent)
{
    uint32_t count = parent->header->thread_count;
    if (count > store.geometry.thread_capacity)
        count = store.geometry.thread_capacity;
    memcpy(store.threads, parent->threads, count * sizeof(struct store_thread));
    store.header->thread_count = count;
}

static void copy_modules(const struct store *parent)
{
    uint32_t count = parent->header->module_count;
    if (count > store.geometry.module_capacity)
        count = store.geometry.module_capacity;
    uint32_t text = parent->header->text_used;
    if (text > store.geometry.text_capacity)
        text = store.geometry.text_capacity;
    memcpy(store.modules, parent->modules, count * sizeof(struct store_module));
    memcpy(store.text, parent->text, text);
    store.header->module_count = count;
    store.header->text_used = text;
}

/* Copies the prefix tree; links are made anew, since the parent may be linking at this moment.
 * Node 1 and stack 1 are in every slot already. Returns the number of stacks. */
static uint32_t copy_stacks(const struct store *parent)
{
    uint32_t nodes = parent->header->node_count;
    uint32_t stacks = parent->header->stack_count;
    if (nodes > store.geometry.node_capacity)
        nodes = store.geometry.node_capacity;
    if (stacks > store.geometry.stack_capacity)
        stacks = store.geometry.stack_capacity;
    store.header->node_count = nodes;
    store.header->stack_count = stacks;
    for (uint32_t id = 2; id < nodes; id++) {
        store.nodes[id].parent = parent->nodes[id].parent;
        store.nodes[id].pc_word = parent->nodes[id].pc_word;
        if (store.nodes[id].pc_word != 0 && store.nodes[id].parent < id)
            store_index_node(id);
    }
    for (uint32_t id = 2; id < stacks; id++) {
        uint32_t node = parent->stacks[id].node;
        if (node == 0 || node >= nodes)
            continue;
        store.stacks[id].node = node;
        store.stacks[id].depth = parent->stacks[id].depth;
        store.nodes[node].stack = id;
    }
    return stacks;
}

/* What is left when the parent's slot is not the parent's any more: ids without their stacks. */
static uint32_t forget_stacks(void)
{
    uint32_t stacks = store.geometry.stack_capacity;
    memset(store.nodes + 2, 0, (store.header->node_count - 2) * sizeof(struct store_node));
    memset(store.index, 0, store.geometry.index_capacity * sizeof(uint32_t));
    store.header->node_count = 2;
    store_index_node(1);
    for (uint32_t id = 2; id < stacks; id++)
        if (counts_holds(id))
            store.stacks[id].node = 1;
    return stacks;
}

static bool slot_is_still(const struct store *parent)
{
    const struct store_entry *entry = &parent->directory->entries[parent->slot];
    /* What was copied was read before this. */
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit((_Atomic uint64_t *)&entry->generation, memory_order_acquire) ==
               parent->generation &&
           parent->header->magic == STORE_MAGIC;
}

static bool begin_child(void)
{
    struct store parent = store;
    uint32_t slot = claim_slot();
    if (slot == store.slot_count) {
        shared_add_u32(&store.directory->claim_failures, 1);
        store_wake();
        return false;
    }
    uint32_t pid = (uint32_t)raw_syscall0(SYS_getpid);
    struct store_entry *entry = &store.directory->entries[slot];
    shared_store_u32(&entry->pid, pid,
                     memory_order_relaxed); /* who to look for if we die in here */
    uint64_t slot_bytes = store.directory->slot_bytes;
    uint8_t *base = store.slots + slot * slot_bytes;
    if (raw_syscall3(SYS_mprotect, (long)base, (long)slot_bytes, PROT_READ | PROT_WRITE) != 0) {
        shared_store_u32(&store.directory->entries[slot].state, STORE_ENTRY_FREE,
                         memory_order_release);
        return false;
    }
    store_attach(slot, process.rate, pid, clock_now_ns(CLOCK_MONOTONIC));
    bool intact = slot_is_still(&parent);
    if (intact) {
        copy_modules(&parent);
        copy_threads(&parent);
    }
    uint32_t stacks = intact ? copy_stacks(&parent) : store.header->stack_count;
    if (!slot_is_still(&parent))
        stacks = forget_stacks();
    counts_restore(stacks);
    raw_syscall3(SYS_mprotect, (long)(parent.slots + parent.slot * slot_bytes), (long)slot_bytes,
                 PROT_NONE);
    entry->parent_slot = parent.slot;
    entry->fork_ordinal = shared_add_u32(&store.directory->fork_ordinal, 1) + 1;
    entry->start_ns = store.header->start_ns;
    /* Release: the collector reads the entry and the slot after it sees this state. */
    shared_store_u32(&entry->state, STORE_ENTRY_FORKED, memory_order_release);
    store_wake();
    event_restart();
    sampler_count_in(&store.header->counted_bytes, &store.header->counted_threads, process.own);
    sampler_configure(process.rate, process.seed, entry->fork_ordinal);
    return true;
}

/* Another thread of the child is at it: wait until it is done. A signal handler inside it would
 * wait for its own thread: hence not for ever. */
static bool wait_for_beginner(void)
{
    for (unsigned spins = 0; spins < 20000000; spins++) {
        if (atomic_load_explicit(process.own, memory_order_acquire) != OWN_BEGINNING)
            return atomic_load_explicit(&process.state, memory_order_acquire) == PROCESS_ACTIVE;
        __builtin_ia32_pause();
    }
    return false;
}

bool process_begin_child(void)
{
    uint32_t own = OWN_WIPED;
    if (!atomic_compare_exchange_strong_explicit(process.own, &own, OWN_BEGINNING,
                                                 memory_order_acq_rel, memory_order_acquire))
        return own == OWN_READY || wait_for_beginner();
    bool begun = !process.no_follow && begin_child();
    if (!begun) {
        sampler_count_in(NULL, NULL, NULL);
        sampler_configure(0, 0, 0);
        atomic_store_explicit(&process.state, PROCESS_INERT, memory_order_release);
    }
    atomic_store_explicit(process.own, OWN_READY, memory_order_release);
    return begun;
}
