/* saturating.h: 64-bit sums that stay at the end of the range where they would leave it: a figure
 * too large is still the largest. Pure. */
#ifndef HEAPPROF_CLI_SATURATING_H
#define HEAPPROF_CLI_SATURATING_H

#include <stdint.h>

static inline int64_t saturating_add(int64_t a, int64_t b)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return a < 0 ? INT64_MIN : INT64_MAX;
}

/* value, INT64_MAX where it is more. */
static inline int64_t saturating_signed(uint64_t value)
{
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

#endif
