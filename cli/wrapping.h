/* wrapping.h: 64-bit arithmetic that wraps around, and is defined to.
 *
 * Values of a profile come from outside, and sums of them may overflow. Reports must then neither
 * trap nor differ from `go tool pprof`, whose int64 wraps. Pure. */
#ifndef HEAPPROF_CLI_WRAPPING_H
#define HEAPPROF_CLI_WRAPPING_H

#include <stdint.h>

static inline int64_t wrapping_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* |a|; INT64_MIN stays. */
static inline int64_t wrapping_abs(int64_t a)
{
    return a < 0 ? (int64_t)(0 - (uint64_t)a) : a;
}

/* value without its decimals; INT64_MIN where that does not fit, as the processor's cvttsd2si has
 * it. */
static inline int64_t wrapping_truncate(double value)
{
    double limit = -(double)INT64_MIN; /* 2^63, exactly */
    return value >= -limit && value < limit ? (int64_t)value : INT64_MIN;
}

/* a * fraction, truncated so. */
static inline int64_t wrapping_fraction(int64_t a, double fraction)
{
    return wrapping_truncate((double)a * fraction);
}

#endif
