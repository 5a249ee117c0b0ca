/* hook_rule_cache.c: fills and empties the memory pc -> unwind rule.
 *
 * Hook-safe: runs in the target's malloc on any thread, also in signal handlers. Everything is a
 * relaxed store: two writers, or a writer and a reader, in one entry can only make an entry that
 * matches no pc. What is lost is found again at the next miss. */
#include "runtime/hook_rule_cache.h"

struct rule_set rule_cache_sets[RULE_CACHE_SETS] __attribute__((aligned(64)));

static void write_entry(struct rule_entry *entry, uint64_t key, frame_word rule)
{
    atomic_store_explicit(&entry->key, key, memory_order_relaxed);
    atomic_store_explicit(&entry->rule, rule, memory_order_relaxed);
}

void rule_cache_put(uint64_t pc, frame_word rule)
{
    struct rule_set *set = rule_cache_set(pc);
    uint64_t newest_key = atomic_load_explicit(&set->ways[0].key, memory_order_relaxed);
    frame_word newest = atomic_load_explicit(&set->ways[0].rule, memory_order_relaxed);
    if (newest != FRAME_EMPTY)
        write_entry(&set->ways[1], newest_key, newest);
    write_entry(&set->ways[0], rule_cache_key(pc, rule), rule);
}

void rule_cache_forget(uint64_t start, uint64_t limit)
{
    for (size_t i = 0; i < RULE_CACHE_SETS * RULE_CACHE_WAYS; i++) {
        struct rule_entry *entry = &rule_cache_sets[i / RULE_CACHE_WAYS].ways[i % RULE_CACHE_WAYS];
        frame_word rule = atomic_load_explicit(&entry->rule, memory_order_relaxed);
        uint64_t key = atomic_load_explicit(&entry->key, memory_order_relaxed);
        uint64_t pc = rule_cache_key(key, rule);
        if (rule != FRAME_EMPTY && pc >= start && pc < limit)
            write_entry(entry, 0, FRAME_EMPTY);
    }
}
