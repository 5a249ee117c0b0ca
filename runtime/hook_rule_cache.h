/* hook_rule_cache.h: the process-wide memory pc -> unwind rule.
 *
 * 16,384 entries of two words, two to a set, in .bss: memory becomes resident as entries are used,
 * 256 KiB at most. No lock: an entry's first word is the pc mixed with its second, so an entry read
 * while another thread writes it does not match and is a miss. Hook-safe, any thread, signal
 * handlers too. */
#ifndef HEAPPROF_RUNTIME_HOOK_RULE_CACHE_H
#define HEAPPROF_RUNTIME_HOOK_RULE_CACHE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/hook_frame_rule.h"

enum { RULE_CACHE_SETS = 8192, RULE_CACHE_WAYS = 2 };

struct rule_entry {
    _Atomic uint64_t key; /* rule_cache_key(pc, rule); 0 with rule 0: unused */
    _Atomic frame_word rule;
};

struct rule_set {
    struct rule_entry ways[RULE_CACHE_WAYS];
};

extern struct rule_set rule_cache_sets[RULE_CACHE_SETS] __attribute__((visibility("hidden")));

/* Multiplied by an odd number, two rules that differ in little differ in many bits of the key: a
 * torn entry would have to differ by just that in its pc. */
static inline uint64_t rule_cache_key(uint64_t pc, frame_word rule)
{
    return pc ^ rule * UINT64_C(0x9e3779b97f4a7c15);
}

/* Its low bits, as they are: call sites spread well, and the index is on the chain from frame to
 * frame, where a hash would cost as much as all the rest of it. Plus 1, since pc is mostly a return
 * address - 1: so the subtraction is not on that chain either. */
static inline struct rule_set *rule_cache_set(uint64_t pc)
{
    size_t offset = (pc + 1) * sizeof(struct rule_set) % sizeof(rule_cache_sets);
    return (struct rule_set *)((char *)rule_cache_sets + offset);
}

/* The rule for pc, or FRAME_EMPTY; always that for pc 0. Relaxed: the key is what tells a whole
 * entry. */
static inline frame_word rule_cache_get(uint64_t pc)
{
    struct rule_set *set = rule_cache_set(pc);
    for (size_t i = 0; i < RULE_CACHE_WAYS; i++) {
        frame_word rule = atomic_load_explicit(&set->ways[i].rule, memory_order_relaxed);
        uint64_t key = atomic_load_explicit(&set->ways[i].key, memory_order_relaxed);
        if (__builtin_expect(rule_cache_key(pc, rule) == key, 1))
            return rule;
    }
    return FRAME_EMPTY;
}

/* Remembers it in place of the older of the set's two. pc is not 0. */
void rule_cache_put(uint64_t pc, frame_word rule) __attribute__((visibility("hidden")));

/* Forgets every pc in [start, limit). */
void rule_cache_forget(uint64_t start, uint64_t limit) __attribute__((visibility("hidden")));

#endif
