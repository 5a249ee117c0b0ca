/* hook_store.h: the writer of this process' slot of the shared store: stacks and losses.
 *
 * Hook-safe: lock-free, any thread, signal handlers too. What the slot looks like is told in
 * proto/store_layout.h; the counters of a stack are hook_counts.h's, the module table is
 * hook_modules.h's. */
#ifndef HEAPPROF_RUNTIME_HOOK_STORE_H
#define HEAPPROF_RUNTIME_HOOK_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/store_layout.h"

/* The stack that takes what has no room of its own; made with the slot. */
#define STORE_STACK_OTHER 1u

/* This process' view of the store; all pointers into the mapping. header is NULL before
 * store_attach. Written by the constructor and by a forked child, before it has threads that
 * record. */
struct store {
    struct store_directory *directory;
    uint8_t *slots;      /* slot 0; slots of others are PROT_NONE */
    uint32_t slot_count; /* that are mapped: children may claim these */
    uint32_t slot;       /* ours */
    uint64_t generation; /* of our slot's entry */
    struct store_geometry geometry;
    struct store_header *header;
    struct store_sizes *sizes;
    struct store_thread *threads;
    struct store_module *modules;
    char *text;
    uint32_t *index;
    struct store_node *nodes;
    struct store_stack *stacks;
};

extern struct store store __attribute__((visibility("hidden")));

/* Points `store` at slot `slot` of a mapping of the whole store, which the caller has made writable
 * and which is all zero, and writes its header. directory, slots and slot_count are set already. */
void store_attach(uint32_t slot, uint64_t rate, uint32_t pid, uint64_t start_ns);

/* The id of the stack pcs[0..depth), leaf first, under the pseudo frame root_frame
 * (STORE_FRAME_NONE for none) under the node parent (0: the root of all). Never 0:
 * STORE_STACK_OTHER, counted as a loss, when the tables are full. */
uint32_t store_intern(uint32_t parent, const uint64_t *pcs, size_t depth,
                      enum store_frame root_frame);

/* The node under parent with this pc, made when it is new; 0 when the table is full. */
uint32_t store_node(uint32_t parent, uint64_t pc);

/* The stack of depth frames that ends at a node, made when it is new; 0 when the table is full. */
uint32_t store_stack(uint32_t node, uint32_t depth);

/* Puts an existing node (its pc_word and parent are written) into the index; for a forked child
 * that has copied the nodes. */
void store_index_node(uint32_t id);

/* Counts an event that was not recorded as it should be, and the bytes it was about. */
void store_loss(enum store_loss loss, uint64_t bytes);

/* Tells the launcher that an entry or the module table has changed: one futex wake. */
void store_wake(void);

#endif
