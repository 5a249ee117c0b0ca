/* id_map.h: from the ids of a file to the elements read for them.
 *
 * Ids are any 64-bit numbers but 0, in any order. Files of sane writers count 1, 2, 3, ...: such
 * ids cost one array access; all others go through a hash. Not thread-safe. */
#ifndef HEAPPROF_PROTO_ID_MAP_H
#define HEAPPROF_PROTO_ID_MAP_H

#include "proto/hash_set.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct id_map {
    struct arena *arena; /* not owned */
    void **dense;        /* element of id i + 1 */
    size_t dense_count;
    size_t dense_capacity;
    struct hash_set sparse; /* of struct id_entry, once an id was out of sequence */
};

/* Entries are taken from arena, which must outlive the map. */
void id_map_init(struct id_map *map, struct arena *arena);
/* Frees the map's own memory; a zeroed map is accepted. */
void id_map_done(struct id_map *map);

/* False, with nothing changed, when id is in the map already. item is not NULL. */
bool id_map_add(struct id_map *map, uint64_t id, void *item);

/* The element of id, NULL when there is none. */
void *id_map_find(const struct id_map *map, uint64_t id);

#endif
