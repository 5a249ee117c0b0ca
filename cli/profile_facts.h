/* profile_facts.h: what a profile says about itself, as lines for people: of what program and run
 * it is, what it holds, what was lost. */
#ifndef HEAPPROF_CLI_PROFILE_FACTS_H
#define HEAPPROF_CLI_PROFILE_FACTS_H

#include <stdbool.h>
#include <stdio.h>

struct profile;

/* Prints the facts of profile, which was read from path, to stream: what is not known is left out.
 * is_verbose: with all mappings, and comments that are for programs. Errors stay in stream. */
void profile_facts_print(const struct profile *profile, const char *path, bool is_verbose,
                         FILE *stream);

#endif
