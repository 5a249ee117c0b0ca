/* hash_set.h: finds an element among many by its hash.
 *
 * Elements belong to the caller, who also says when two are the same. Hashes are keyed with a
 * random key a set: the bytes of a file cannot be chosen so that look-ups become slow. Nothing of
 * the order inside is ever visible. Not thread-safe. */
#ifndef HEAPPROF_PROTO_HASH_SET_H
#define HEAPPROF_PROTO_HASH_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_slot;

struct hash_set {
    struct hash_slot *slots;
    size_t capacity; /* 0 or a power of two */
    size_t count;
    uint64_t key[2];
};

/* Whether item, an element of the set, is the wanted one. */
typedef bool hash_set_same(const void *item, const void *wanted);

void hash_set_init(struct hash_set *set);
/* Frees the set's own memory, not the elements; a zeroed set is accepted. */
void hash_set_done(struct hash_set *set);

/* The hash of bytes[0..size) under the set's key: SipHash-1-3 (Aumasson and Bernstein, "SipHash: a
 * fast short-input PRF", 2012). */
uint64_t hash_set_hash(const struct hash_set *set, const void *bytes, size_t size);

/* The element with this hash for which same(element, wanted) is true; NULL when there is none. */
void *hash_set_find(const struct hash_set *set, uint64_t hash, hash_set_same *same,
                    const void *wanted);

/* Adds item (not NULL) without looking for an equal one. */
void hash_set_add(struct hash_set *set, uint64_t hash, void *item);

#endif
