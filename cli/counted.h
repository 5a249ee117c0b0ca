/* counted.h: the bytes that a program asked for, counted, beside what the samples say of them.
 *
 * Each thread counts up to its last sample, and at its end; one that ends otherwise (with the
 * process, or killed) leaves what it asked for since uncounted: the rate on average, exponentially
 * distributed, hence with the rate as its standard error too. So the difference of estimate and
 * count is expected to be within twice the root of (variance + threads * rate^2). */
#ifndef HEAPPROF_CLI_COUNTED_H
#define HEAPPROF_CLI_COUNTED_H

#include <stdint.h>

#include "cli/quantity.h"

struct counted {
    uint64_t bytes;   /* counted */
    uint64_t threads; /* that have left some uncounted */
    uint64_t rate;    /* mean sampling gap, bytes */
    int64_t estimate; /* of the bytes allocated */
    double variance;  /* of the estimate, bytes squared */
    uint64_t lost;    /* bytes that are counted, but were not sampled for want of room */
};

#define COUNTED_TEXT_SIZE (2 * QUANTITY_TEXT_SIZE + 80)

/* "1.90GB, allocated is 0.31% off, up to 0.90% was expected". Returns text. */
char *counted_text(const struct counted *counted, char text[COUNTED_TEXT_SIZE]);

#endif
