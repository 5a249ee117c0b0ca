/* folded.h: a profile as folded stacks, the text that flame graph tools read.
 *
 * One line a stack, `root;caller;leaf value`: root first, inlined functions as frames of their own,
 * equal stacks merged, lines sorted by bytes. Stacks whose value is 0 are left out, negative values
 * (profiles that are differences) are written as they are. Frames hidden by the profile's
 * drop_frames are left out as in `top`.
 *
 * A line always splits back into the same frames and the same value: what would break it is
 * replaced in names: `;` becomes `:`, CR, LF and other control characters become a space, spaces at
 * the ends go, and an empty name becomes `[unknown]`. Spaces inside names stay: the value is what
 * follows the last space. */
#ifndef HEAPPROF_CLI_FOLDED_H
#define HEAPPROF_CLI_FOLDED_H

#include <stdbool.h>
#include <stdio.h>

struct profile;

/* Writes the values of sample type sample_type_index (valid in profile) to stream. Samples without
 * any frame are written as the frame `[no stack]`, so that the sum of the lines is the sum of the
 * samples. False when stream has an error (errno says which); it is not flushed here. */
bool folded_write(const struct profile *profile, int sample_type_index, FILE *stream);

#endif
