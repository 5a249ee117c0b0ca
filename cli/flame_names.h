/* flame_names.h: a number for each frame name, the same one for equal names.
 *
 * Two functions of one name (from two files, or inlined here and called there) are one frame of a
 * flamegraph; comparing numbers makes merging stacks independent of the length of names. */
#ifndef HEAPPROF_CLI_FLAME_NAMES_H
#define HEAPPROF_CLI_FLAME_NAMES_H

#include <stdint.h>

struct flame_names;
struct frame_names;
struct profile;
struct profile_function;
struct profile_location;

/* The name of the root, above all stacks. */
#define FLAME_NAME_ROOT 0u

/* Numbers the names of profile, which must outlive them (as must frame_names). Never NULL; freed
 * with flame_names_free (which accepts NULL). */
struct flame_names *flame_names_new(const struct profile *profile,
                                    const struct frame_names *frame_names);
void flame_names_free(struct flame_names *names);

/* The number for a frame: of function when it has a name, else of the place where location is.
 * function may be NULL. */
uint32_t flame_names_of(const struct flame_names *names, const struct profile_function *function,
                        const struct profile_location *location);

/* The text behind a number; owned by names. */
const char *flame_names_text(const struct flame_names *names, uint32_t number);

#endif
