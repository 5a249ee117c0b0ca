/* hash_set.c: open addressing with linear probing, at most three quarters full.
 *
 * Slots keep the whole hash, so growing never looks at an element and a probe rarely does. There
 * is no removal: profiles only grow. */
#include "proto/hash_set.h"

#include "proto/arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define FIRST_CAPACITY 64u

struct hash_slot {
    uint64_t hash;
    void *item; /* NULL: free */
};

void hash_set_init(struct hash_set *set)
{
    memset(set, 0, sizeof(*set));
    if (getrandom(set->key, sizeof(set->key), GRND_NONBLOCK) == (ssize_t)sizeof(set->key))
        return;
    struct timespec now; /* early boot or an old kernel: hard to guess will do */
    clock_gettime(CLOCK_MONOTONIC, &now);
    set->key[0] = (uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)set;
    set->key[1] = (uint64_t)now.tv_sec ^ (uint64_t)(uintptr_t)&now;
}

void hash_set_done(struct hash_set *set)
{
    free(set->slots);
    set->slots = NULL;
    set->capacity = 0;
    set->count = 0;
}

static uint64_t rotate_left(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate_left(v[1], 13) ^ v[0];
    v[0] = rotate_left(v[0], 32);
    v[2] += v[3];
    v[3] = rotate_left(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate_left(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate_left(v[1], 17) ^ v[2];
    v[2] = rotate_left(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
}

uint64_t hash_set_hash(const struct hash_set *set, const void *bytes, size_t size)
{
    uint64_t v[4] = {set->key[0] ^ 0x736f6d6570736575u, set->key[1] ^ 0x646f72616e646f6du,
                     set->key[0] ^ 0x6c7967656e657261u, set->key[1] ^ 0x7465646279746573u};
    const unsigned char *at = bytes;
    size_t left = size;
    for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at, sizeof(word));
        sip_word(v, word);
    }
    uint64_t last = (uint64_t)size << 56;
    for (size_t i = 0; i < left; i++)
        last |= (uint64_t)at[i] << 8 * i;
    sip_word(v, last);
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void *hash_set_find(const struct hash_set *set, uint64_t hash, hash_set_same *same,
                    const void *wanted)
{
    if (set->capacity == 0)
        return NULL;
    size_t mask = set->capacity - 1;
    for (size_t at = hash & mask; set->slots[at].item; at = (at + 1) & mask) {
        if (set->slots[at].hash == hash && same(set->slots[at].item, wanted))
            return set->slots[at].item;
    }
    return NULL;
}

static void put(struct hash_slot *slots, size_t capacity, struct hash_slot slot)
{
    size_t mask = capacity - 1;
    size_t at = slot.hash & mask;
    while (slots[at].item)
        at = (at + 1) & mask;
    slots[at] = slot;
}

static void grow(struct hash_set *set)
{
    size_t capacity = 0;
    size_t need = set->capacity > 0 ? set->capacity * 2 : FIRST_CAPACITY;
    struct hash_slot *slots = heap_grow(NULL, &capacity, need, sizeof(*slots));
    memset(slots, 0, capacity * sizeof(*slots));
    for (size_t i = 0; i < set->capacity; i++) {
        if (set->slots[i].item)
            put(slots, capacity, set->slots[i]);
    }
    free(set->slots);
    set->slots = slots;
    set->capacity = capacity;
}

void hash_set_add(struct hash_set *set, uint64_t hash, void *item)
{
    if (set->count >= set->capacity / 4 * 3)
        grow(set);
    put(set->slots, set->capacity, (struct hash_slot){.hash = hash, .item = item});
    set->count++;
}
