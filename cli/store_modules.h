/* store_modules.h: which module of a snapshot an address belongs to, and its mapping.
 *
 * Modules may overlap (one was unloaded and another took its place, or the table is damaged): a
 * node that was tagged when its module went says which one it means, any other address belongs to
 * the loaded module that covers it, the last recorded one when there are several. */
#ifndef HEAPPROF_CLI_STORE_MODULES_H
#define HEAPPROF_CLI_STORE_MODULES_H

#include <stdint.h>

struct profile;
struct profile_mapping;
struct store_modules;
struct store_snapshot;

/* Adds the mappings of snapshot to profile: main program first (its file is executable), then by
 * address; of the unloaded modules only those that a node names. The caller frees. */
struct store_modules *store_modules_new(struct profile *profile,
                                        const struct store_snapshot *snapshot,
                                        const char *executable);
void store_modules_free(struct store_modules *modules);

/* The mapping for a node's pc_word; NULL when no module covers the address. */
struct profile_mapping *store_modules_find(const struct store_modules *modules, uint64_t pc_word);

#endif
