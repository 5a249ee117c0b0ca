/* report_sums.h: what a report adds up over samples, for each of its rows. */
#ifndef HEAPPROF_CLI_REPORT_SUMS_H
#define HEAPPROF_CLI_REPORT_SUMS_H

#include "proto/profile.h"

#include <stdbool.h>
#include <stdint.h>

struct report_sums {
    int64_t value;   /* of the sample type that is shown, wrapping around */
    int64_t objects; /* of the sample type that counts its objects; 0 without one */
    double byte_age; /* value times mean age of the objects, in nanoseconds times value's unit */
    bool has_extra;  /* extra is not all zero */
    struct profile_sample_extra extra;
};

/* What of a sample is added up. */
struct report_source_types {
    int value;          /* index of a sample type */
    int objects;        /* likewise, -1 for none */
    int64_t oldest_age; /* no object is older, in nanoseconds; 0 when that is not known */
};

/* What one sample contributes. Its mean age comes from a rounded number of objects; oldest_age
 * keeps it to what is possible. */
struct report_sums report_sums_of(const struct profile_sample *sample,
                                  const struct report_source_types *types);

/* Adds more to *sums. The variances of independent estimates add up; of lifetimes, the shortest and
 * the longest stay. Numbers of samples stop at INT64_MAX. */
void report_sums_add(struct report_sums *sums, const struct report_sums *more);

/* A sum of doubles, never negative, rounded to a whole number and cut at INT64_MAX. */
int64_t report_sums_rounded(double sum);

/* Mean lifetime of the freed objects, and mean age of a byte in use, in nanoseconds; 0 when there
 * are none. */
int64_t report_sums_mean_lifetime(const struct report_sums *sums);
int64_t report_sums_mean_age(const struct report_sums *sums);

#endif
