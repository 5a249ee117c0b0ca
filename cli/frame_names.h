/* frame_names.h: the names that reports show for functions and for code without one.
 *
 * Profiles from elsewhere may hold mangled names, or full ones with parameters. As pprof does when
 * it loads a file, names that are equal to the system name are demangled and simplified here; names
 * that somebody already made differ from the system name and stay. The profile is not changed.
 * Source: google/pprof internal/symbolizer (demangleSingleFunction). */
#ifndef HEAPPROF_CLI_FRAME_NAMES_H
#define HEAPPROF_CLI_FRAME_NAMES_H

#include <stddef.h>

struct frame_names;
struct profile;
struct profile_function;
struct profile_location;

/* The names of profile, which must outlive them. Freed with frame_names_free (which accepts
 * NULL). Never NULL. */
struct frame_names *frame_names_new(const struct profile *profile);
void frame_names_free(struct frame_names *names);

/* The function's name, "" when it has none. Owned by names. */
const char *frame_names_of(const struct frame_names *names,
                           const struct profile_function *function);

/* What stands for a frame without a name, by where it is: "libfoo.so+0x1234" (offset in the file),
 * "0x1234" outside every mapping, "[unknown]" with no address either. Cut to size, which must not
 * be 0. Returns text. */
char *frame_names_place(const struct profile_location *location, char *text, size_t size);

#endif
