/* report_errors.h: how far off the figures of a report may be.
 *
 * Files of heapprof carry, for each sample, the variance of its estimates and the number of sampled
 * objects behind them (PROFILE_SAMPLE_EXTRAS), for the six heap sample types. The samples are
 * independent, so variances add up. */
#ifndef HEAPPROF_CLI_REPORT_ERRORS_H
#define HEAPPROF_CLI_REPORT_ERRORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct report_sums;

struct report_errors {
    const char *missing; /* why there are none, in words; NULL when they are known */
    bool is_exact;       /* every allocation was recorded: all errors are 0 */
    size_t variance;     /* offsets in struct profile_sample_extra */
    size_t samples;
};

/* What profile says about the errors of sample type sample_type_index, valid in it. */
struct report_errors report_errors_find(const struct profile *profile, int sample_type_index);

/* The variance of sums->value; errors must be known. */
double report_errors_variance(const struct report_errors *errors, const struct report_sums *sums);

/* The sampled objects behind sums->value; errors must be known. */
int64_t report_errors_samples(const struct report_errors *errors, const struct report_sums *sums);

/* Whether the error of sums->value is no more than a lower bound: fewer than 10 samples tell little
 * about how different samples may be. False for what has neither value nor samples. */
bool report_errors_is_bound(const struct report_errors *errors, const struct report_sums *sums);

/* Whether two standard errors of sums->value are more than 1 % of it. */
bool report_errors_matter(const struct report_errors *errors, const struct report_sums *sums);

#endif
