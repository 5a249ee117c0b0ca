/* address_index.c: a sorted array of ranges with a running maximum of their ends.
 *
 * Ranges in debug information overlap more often than one thinks: identical code folded by the
 * linker, nested functions, dropped sections. A search finds the last range that begins at or
 * before the address and walks back only while some earlier range can still reach it. */
#include "symbolize/address_index.h"

#include <stdlib.h>
#include <string.h>

#include "proto/arena.h"

void address_index_add(struct address_index *index, uint64_t low, uint64_t limit, size_t item)
{
    if (low >= limit)
        return;
    index->ranges =
        heap_grow(index->ranges, &index->capacity, index->count + 1, sizeof(*index->ranges));
    index->ranges[index->count++] = (struct address_range){low, limit, limit, item};
}

static int compare_ranges(const void *left, const void *right)
{
    const struct address_range *a = left, *b = right;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    if (a->limit != b->limit) /* the longer one first: the walk goes backwards */
        return a->limit > b->limit ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

void address_index_sort(struct address_index *index)
{
    uint64_t reach = 0;
    if (index->count > 1)
        qsort(index->ranges, index->count, sizeof(*index->ranges), compare_ranges);
    for (size_t i = 0; i < index->count; i++) {
        reach = index->ranges[i].limit > reach ? index->ranges[i].limit : reach;
        index->ranges[i].reach = reach;
    }
}

bool address_index_find(const struct address_index *index, uint64_t address, size_t *item)
{
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index->ranges[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    while (low-- > 0 && index->ranges[low].reach > address) {
        if (address < index->ranges[low].limit) {
            *item = index->ranges[low].item;
            return true;
        }
    }
    return false;
}

void address_index_done(struct address_index *index)
{
    free(index->ranges);
    memset(index, 0, sizeof(*index));
}
