/* report_total.h: what 100% of a report is. */
#ifndef HEAPPROF_CLI_REPORT_TOTAL_H
#define HEAPPROF_CLI_REPORT_TOTAL_H

#include <stdbool.h>
#include <stdint.h>

struct mapping_groups;
struct profile;
struct profile_sample;

/* The sum of the absolute values of sample type sample_type_index (valid in profile), wrapping
 * around. Samples with equal stacks and labels count as one sample, so that values of both signs
 * in one place cancel out. Where samples carry the label pprof::base=true (the base of a
 * difference), only they count, if they have any value; *of_base says so.
 * Source: google/pprof internal/report/report.go (computeTotal), profile/merge.go. */
int64_t report_total(const struct profile *profile, const struct mapping_groups *groups,
                     int sample_type_index, bool *of_base);

/* Whether the sample is of the base of a difference. */
bool report_total_is_base(const struct profile_sample *sample);

#endif
