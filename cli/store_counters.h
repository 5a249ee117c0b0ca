/* store_counters.h: the counters of a stack of the store as values of a profile.
 *
 * The counters come from the profiled process and are not believed: sums that have gone below zero
 * hold nothing, and sums of 128 bits are cut down to what the others allow. */
#ifndef HEAPPROF_CLI_STORE_COUNTERS_H
#define HEAPPROF_CLI_STORE_COUNTERS_H

#include <stdint.h>

#include "cli/store_reader.h"
#include "proto/profile.h"

/* How the ticks of a slot become nanoseconds. */
struct store_time {
    double ns_of_tick;
    uint64_t end; /* of the profile, in ticks since header.origin_ticks */
};

struct store_time store_time_of(const struct store_header *header, const struct store_image *image);

/* Fills values[STORE_VALUE_COUNT] and *extra from a stack; objects in 1/65536 are rounded once,
 * here. epoch is the peak's (store_live_epoch). */
void store_stack_values(const struct store_stack *stack, uint32_t epoch,
                        const struct store_time *time, int64_t *values,
                        struct profile_sample_extra *extra);

/* A sum that has gone below zero (the runtime's numbers wrap) holds nothing. */
static inline int64_t store_whole(uint64_t value)
{
    return value > INT64_MAX ? 0 : (int64_t)value;
}

#endif
