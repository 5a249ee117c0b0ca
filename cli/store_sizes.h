/* store_sizes.h: what a process allocates by size class, added up from its threads' shards. */
#ifndef HEAPPROF_CLI_STORE_SIZES_H
#define HEAPPROF_CLI_STORE_SIZES_H

#include "cli/size_histogram.h"
#include "proto/store_layout.h"

/* Objects are rounded to whole ones. Sums that do not fit wrap around: nothing of a slot is to be
 * believed. */
void store_sizes_sum(const struct store_sizes *sizes, struct size_histogram *histogram);

/* The bytes of all classes. */
uint64_t store_sizes_bytes(const struct store_sizes *sizes);

#endif
