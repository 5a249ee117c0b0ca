/* mapping_groups.h: which mappings of a profile are the same piece of a file.
 *
 * A profile that was merged from several processes maps one file at several addresses. pprof makes
 * one mapping of those with equal size (in pages), file offset and build id (or file name, where
 * there is none), named after the first that a sample uses. The profile is not changed.
 * Source: google/pprof profile/merge.go. */
#ifndef HEAPPROF_CLI_MAPPING_GROUPS_H
#define HEAPPROF_CLI_MAPPING_GROUPS_H

struct mapping_groups;
struct profile;
struct profile_mapping;

/* Groups the mappings of profile, which must outlive them. Never NULL; freed with
 * mapping_groups_free (which accepts NULL). */
struct mapping_groups *mapping_groups_new(const struct profile *profile);
void mapping_groups_free(struct mapping_groups *groups);

/* The mapping that stands for all of mapping's group. */
const struct profile_mapping *mapping_groups_first(const struct mapping_groups *groups,
                                                   const struct profile_mapping *mapping);

/* The file that reports name for the mapping (a path): that of its group. "" for NULL, where there
 * is none, and where the name is a URL of code that was fetched from somewhere. */
const char *mapping_groups_file(const struct mapping_groups *groups,
                                const struct profile_mapping *mapping);

#endif
