/* id_map.c: an array for the ids 1, 2, 3, ... as far as they come in sequence, a hash set for the
 * rest. */
#include "proto/id_map.h"

#include "proto/arena.h"

#include <stdlib.h>
#include <string.h>

struct id_entry {
    uint64_t id;
    void *item;
};

void id_map_init(struct id_map *map, struct arena *arena)
{
    memset(map, 0, sizeof(*map));
    map->arena = arena;
    hash_set_init(&map->sparse);
}

void id_map_done(struct id_map *map)
{
    free(map->dense);
    hash_set_done(&map->sparse);
    memset(map, 0, sizeof(*map));
}

static bool same_id(const void *item, const void *wanted)
{
    return ((const struct id_entry *)item)->id == *(const uint64_t *)wanted;
}

void *id_map_find(const struct id_map *map, uint64_t id)
{
    if (id - 1 < map->dense_count)
        return map->dense[id - 1];
    if (map->sparse.count == 0)
        return NULL;
    uint64_t hash = hash_set_hash(&map->sparse, &id, sizeof(id));
    struct id_entry *entry = hash_set_find(&map->sparse, hash, same_id, &id);
    return entry ? entry->item : NULL;
}

bool id_map_add(struct id_map *map, uint64_t id, void *item)
{
    if (id_map_find(map, id))
        return false;
    if (id - 1 == map->dense_count) {
        map->dense =
            heap_grow(map->dense, &map->dense_capacity, map->dense_count + 1, sizeof(*map->dense));
        map->dense[map->dense_count++] = item;
        return true;
    }
    struct id_entry *entry = arena_alloc(map->arena, sizeof(*entry));
    entry->id = id;
    entry->item = item;
    hash_set_add(&map->sparse, hash_set_hash(&map->sparse, &id, sizeof(id)), entry);
    return true;
}
