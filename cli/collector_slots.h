/* collector_slots.h: the shared store as its owner, the launcher, sees it.
 *
 * One sparse memfd holds the directory and all slots (proto/store_layout.h). It is sealed against
 * shrinking and growing, so that no process that maps it can be killed by a truncation. Slots are
 * handed to images that say hello here, and are taken by forked children on their own; both do it
 * by compare and swap on the entry's state. Used by one thread of the launcher. */
#ifndef HEAPPROF_CLI_COLLECTOR_SLOTS_H
#define HEAPPROF_CLI_COLLECTOR_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/store_layout.h"

struct error;

struct slots {
    int fd; /* the memfd, close-on-exec */
    uint32_t count;
    uint64_t slot_bytes;
    struct store_directory *directory; /* mapped shared and writable; not inherited by fork */
    uint64_t directory_bytes;
    uint64_t retire_clock; /* raised at each retirement */
    uint64_t *retired_at;  /* count; 0 for a slot that was never used */
};

/* Bytes of one slot for a limit given by the user: whole pages within the layout's limits. */
uint64_t slots_bytes_for(uint64_t max_memory);

/* Makes the store: as many slots as fit into 64 GiB, at most 1024. False with *error. */
bool slots_open(struct slots *slots, uint64_t slot_bytes, struct error *error);
void slots_close(struct slots *slots);

/* Maps the directory anew in a process that was forked. False with *error. */
bool slots_map(struct slots *slots, struct error *error);

/* Takes a free slot for an image that said hello, the one that is free the longest; -1 when there
 * is none. The entry is STORE_ENTRY_ASSIGNED then. */
int slots_assign(struct slots *slots);

/* Where a slot begins in the store. */
uint64_t slots_offset(const struct slots *slots, uint32_t slot);

/* The entry's state, with acquire order: the fields of an entry found FORKED are complete. */
uint32_t slots_state(const struct slots *slots, uint32_t slot);

/* Gives a slot back after its data were read: clears it and frees its memory. */
void slots_retire(struct slots *slots, uint32_t slot);

/* True when some process other than this one still has the store mapped: a forked child that has
 * not recorded anything yet is seen in no other way. Unmaps the directory to find out, so nothing
 * else may use it meanwhile, and maps it again when the answer is true. When it is false, nothing
 * can ever be recorded in this store again. */
bool slots_in_use(struct slots *slots);

#endif
