/* hook_store.c: stacks are interned in the slot as a prefix tree.
 *
 * Hook-safe: lock-free. A node is found by hashing (parent, pc): the hash picks a head of the index
 * and then, two bits a step, a path in a 4-way trie whose links lie in the nodes themselves (after
 * Wellons, "hash-tries", nullprogram.com 2023). Nothing is ever resized or moved, and memory is
 * touched only as stacks appear. A new node is filled in before the one link to it is swapped in;
 * a thread that loses that race goes on from the winner's node. */
#include "runtime/hook_store.h"

#include <string.h>

#include "runtime/hook_clock.h"
#include "runtime/hook_shared.h"
#include "runtime/hook_syscall.h"

struct store store;

static uint64_t node_hash(uint32_t parent, uint64_t pc)
{
    uint64_t hash = (pc ^ (uint64_t)parent << 40 ^ parent) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 32;
    return hash * 0xd6e8feb86659fd93ull;
}

/* A fresh id below capacity, or 0. The counter stays near capacity however often it is asked. */
static uint32_t take_id(uint32_t *counter, uint32_t capacity)
{
    if (shared_load_u32(counter, memory_order_relaxed) >= capacity)
        return 0;
    uint32_t id = shared_add_u32(counter, 1);
    return id < capacity ? id : 0;
}

/* Follows the trie for (parent, pc). Returns the node, or 0 with *link the empty link where it
 * belongs. */
static uint32_t find_node(uint32_t parent, uint64_t pc, uint64_t *hash, uint32_t **link)
{
    for (;;) {
        uint32_t id = shared_load_u32(*link, memory_order_acquire); /* pairs with link_node */
        if (id == 0)
            return 0;
        if (UNLIKELY(id >= store.geometry.node_capacity))
            return 0; /* the program has written over the index: link_node fails on it */
        struct store_node *node = &store.nodes[id];
        if (node->parent == parent && shared_load_u64(&node->pc_word, memory_order_relaxed) == pc)
            return id;
        *link = &node->child[*hash >> 62];
        *hash <<= 2;
    }
}

static uint32_t *index_head(uint64_t *hash)
{
    uint32_t *head = &store.index[*hash & (store.geometry.index_capacity - 1)];
    *hash ^= *hash << 17; /* the head's bits must not steer the trie as well */
    return head;
}

/* Release: whoever follows the link sees the node's words. */
static bool link_node(uint32_t *link, uint32_t id)
{
    uint32_t expected = 0;
    return shared_swap_u32(link, &expected, id);
}

uint32_t store_node(uint32_t parent, uint64_t pc)
{
    uint64_t hash = node_hash(parent, pc);
    uint32_t *link = index_head(&hash);
    uint32_t found = find_node(parent, pc, &hash, &link);
    if (LIKELY(found != 0))
        return found;
    uint32_t id = take_id(&store.header->node_count, store.geometry.node_capacity);
    if (id == 0)
        return 0;
    struct store_node *node = &store.nodes[id];
    node->parent = parent;
    shared_store_u64(&node->pc_word, pc, memory_order_relaxed);
    for (unsigned tries = 0; tries < 1000; tries++) {
        if (link_node(link, id))
            return id;
        found = find_node(parent, pc, &hash, &link);
        if (found != 0)
            break;
    }
    shared_store_u64(&node->pc_word, 0, memory_order_relaxed); /* ours stays unused */
    return found;
}

void store_index_node(uint32_t id)
{
    struct store_node *node = &store.nodes[id];
    uint64_t hash = node_hash(node->parent, node->pc_word);
    uint32_t *link = index_head(&hash);
    if (find_node(node->parent, node->pc_word, &hash, &link) == 0)
        link_node(link, id);
}

uint32_t store_stack(uint32_t node_id, uint32_t depth)
{
    struct store_node *node = &store.nodes[node_id];
    uint32_t stack = shared_load_u32(&node->stack, memory_order_acquire); /* pairs with the swap */
    if (LIKELY(stack != 0))
        return stack < store.geometry.stack_capacity ? stack : STORE_STACK_OTHER;
    uint32_t id = take_id(&store.header->stack_count, store.geometry.stack_capacity);
    if (id == 0)
        return 0;
    store.stacks[id].depth = depth;
    shared_store_u32(&store.stacks[id].node, node_id, memory_order_relaxed);
    if (shared_swap_u32(&node->stack, &stack, id))
        return id;
    shared_store_u32(&store.stacks[id].node, 0, memory_order_relaxed); /* ours stays unused */
    return stack < store.geometry.stack_capacity ? stack : STORE_STACK_OTHER;
}

uint32_t store_intern(uint32_t parent, const uint64_t *pcs, size_t depth,
                      enum store_frame root_frame)
{
    uint32_t node = parent;
    if (root_frame != STORE_FRAME_NONE) {
        node = store_node(node, (uint64_t)root_frame);
        if (node == 0)
            goto full;
    }
    for (size_t i = depth; i-- > 0;) {
        node = store_node(node, pcs[i] & STORE_PC_MASK);
        if (UNLIKELY(node == 0))
            goto full;
    }
    uint32_t stack = node == parent ? 0 : store_stack(node, (uint32_t)depth);
    if (LIKELY(stack != 0))
        return stack;
full:
    store_loss(STORE_LOSS_STACK_TABLE_FULL, 0);
    return STORE_STACK_OTHER;
}

void store_attach(uint32_t slot, uint64_t rate, uint32_t pid, uint64_t start_ns)
{
    uint8_t *base = store.slots + (uint64_t)slot * store.directory->slot_bytes;
    const struct store_geometry *geometry = &store.geometry;
    store.slot = slot;
    store.generation =
        shared_load_u64(&store.directory->entries[slot].generation, memory_order_relaxed);
    store.header = (struct store_header *)base;
    store.sizes = (struct store_sizes *)(base + geometry->sizes_offset);
    store.threads = (struct store_thread *)(base + geometry->threads_offset);
    store.modules = (struct store_module *)(base + geometry->modules_offset);
    store.text = (char *)(base + geometry->text_offset);
    store.index = (uint32_t *)(base + geometry->index_offset);
    store.nodes = (struct store_node *)(base + geometry->nodes_offset);
    store.stacks = (struct store_stack *)(base + geometry->stacks_offset);
    store.header->version = STORE_VERSION;
    store.header->pid = pid;
    store.header->slot_bytes = store.directory->slot_bytes;
    store.header->rate = rate;
    store.header->start_ns = start_ns;
    store.header->origin_ticks = clock_ticks.origin;
    store.header->tick_kind = clock_ticks.kind;
    store.header->node_count = 1;
    store.header->stack_count = 1;
    uint32_t node = store_node(0, STORE_FRAME_OTHER_STACKS);
    uint32_t other = store_stack(node, 1);
    (void)other; /* STORE_STACK_OTHER: the first one */
    /* Release: a reader that sees the magic sees a header that is whole. */
    shared_store_u64(&store.header->magic, STORE_MAGIC, memory_order_release);
}

void store_loss(enum store_loss loss, uint64_t bytes)
{
    shared_add_u64(&store.header->losses[loss], 1);
    shared_add_u64(&store.header->loss_bytes[loss], bytes);
}

void store_wake(void)
{
    shared_add_u32(&store.directory->wake, 1);
    raw_syscall3(SYS_futex, (long)&store.directory->wake, 1 /* FUTEX_WAKE */, INT32_MAX);
}
