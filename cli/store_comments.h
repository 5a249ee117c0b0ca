/* store_comments.h: what a profile says about its process, in its comments.
 *
 * For people: "heapprof VERSION", "command: ...", "pid: N". For machines (machine_comments.h), one
 * fact each, in decimal:
 *   # rate BYTES, # seed N, # fork N       how it was sampled; the forked child's number
 *   # samples N                            sampled allocations
 *   # peak_bytes N, # peak_after_ns N      highest live bytes, and when that was
 *   # temporary_threshold_ns N             younger than that at their end, objects are temporary
 *   # peak_rss BYTES                       resident at most, as far as it was seen
 *   # sizes ..., # timeline ...            size_histogram.h, timeline.h
 *   # counted BYTES THREADS                bytes asked for, counted exactly up to the last sample
 *                                          of each thread; threads that asked for more after it
 *   # loss NAME EVENTS BYTES               STORE_LOSSES, in lower case
 *   # damaged_stacks N                     overwritten by the program in part */
#ifndef HEAPPROF_CLI_STORE_COMMENTS_H
#define HEAPPROF_CLI_STORE_COMMENTS_H

#include "cli/store_reader.h"

struct profile;

void store_add_comments(struct profile *profile, const struct store_snapshot *snapshot,
                        const struct store_image *image, const struct store_totals *totals);

#endif
