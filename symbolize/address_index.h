/* address_index.h: which of many address ranges, perhaps overlapping, holds an address. */
#ifndef HEAPPROF_SYMBOLIZE_ADDRESS_INDEX_H
#define HEAPPROF_SYMBOLIZE_ADDRESS_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_range {
    uint64_t low, limit; /* low to limit - 1 */
    uint64_t reach;      /* highest limit of this range and all sorted before it */
    size_t item;         /* the caller's number for what the range belongs to */
};

/* A zeroed one is empty. */
struct address_index {
    struct address_range *ranges;
    size_t count, capacity;
};

void address_index_add(struct address_index *index, uint64_t low, uint64_t limit, size_t item);
/* Sorts: after the last add, before the first find. */
void address_index_sort(struct address_index *index);
/* The item of the range that holds address and begins last (the innermost one); among several, the
 * one added last. False when there is none. */
bool address_index_find(const struct address_index *index, uint64_t address, size_t *item);
void address_index_done(struct address_index *index);

#endif
