/* machine_comments.h: what a heapprof profile says about its process, for programs to read.
 *
 * pprof has no place for it but the comments. One comment a fact, "# KEY VALUE"; the '#' in front
 * keeps it out of pprof's header. The writer is store_reader.c, which lists the keys. */
#ifndef HEAPPROF_CLI_MACHINE_COMMENTS_H
#define HEAPPROF_CLI_MACHINE_COMMENTS_H

#include <stdbool.h>
#include <stdint.h>

struct profile;

/* The value of the first comment "# key VALUE", "" for one without a value; NULL when there is no
 * such comment. Owned by the profile. It comes from a file: check what it says. */
const char *machine_comment(const struct profile *profile, const char *key);

/* The same where VALUE is one decimal number up to UINT64_MAX; false when there is none. */
bool machine_comment_number(const struct profile *profile, const char *key, uint64_t *number);

#endif
