/* frame_filter.h: which frames of a profile a report shows (drop_frames and keep_frames).
 *
 * A profile names frames that are of no interest by two patterns (see pattern.h), matched on the
 * whole function name. Seen from the root, the first frame that matches drop_frames and not
 * keep_frames goes, and everything below it towards the leaf; but not before a frame that does not
 * match was seen. Source: google/pprof profile/prune.go. A profile whose patterns are not valid is
 * shown whole, as pprof does. The profile itself is not changed. */
#ifndef HEAPPROF_CLI_FRAME_FILTER_H
#define HEAPPROF_CLI_FRAME_FILTER_H

#include <stdint.h>

struct frame_filter;
struct frame_names;
struct profile;
struct profile_location;
struct profile_sample;

/* The filter for profile, whose names are names; both must outlive it. Freed with
 * frame_filter_free (which accepts NULL). Never NULL. */
struct frame_filter *frame_filter_new(const struct profile *profile,
                                      const struct frame_names *names);
void frame_filter_free(struct frame_filter *filter);

/* Index of the first (leaf-most) location of the sample that is shown; all from it up to the root
 * are. sample->location_count when none is. */
uint32_t frame_filter_first_location(const struct frame_filter *filter,
                                     const struct profile_sample *sample);

/* Index of the first (innermost) line of the location that is shown; 0 when it has no lines. */
uint32_t frame_filter_first_line(const struct frame_filter *filter,
                                 const struct profile_location *location);

#endif
