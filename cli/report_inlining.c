/* report_inlining.c: which functions of a report were inlined into their callers.
 *
 * The edges of pprof's call graph, but only those into functions that some location has inlined:
 * for all others the answer is known, and most frames need no look-up at all. In one sample an edge
 * counts once, by its occurrence nearest to the root. */
#include "cli/report_inlining.h"

#include "cli/frame_filter.h"
#include "cli/report_nodes.h"
#include "cli/wrapping.h"
#include "proto/arena.h"
#include "proto/hash_set.h"
#include "proto/profile.h"

#include <stdlib.h>

/* The ends come first: they are what is hashed. */
struct edge_ends {
    const struct report_node *caller;
    struct report_node *callee;
};

struct edge {
    struct edge_ends ends;
    int64_t weight;
    uint64_t last_sample; /* the last one that was added, + 1 */
    bool is_inlined;      /* in every sample */
};

struct edges {
    struct arena *arena;
    struct hash_set set;
    struct edge **list;
    size_t count, capacity;
};

static bool same_ends(const void *item, const void *wanted)
{
    const struct edge *edge = item;
    const struct edge_ends *ends = wanted;
    return edge->ends.caller == ends->caller && edge->ends.callee == ends->callee;
}

static struct edge *find_edge(struct edges *edges, const struct report_node *caller,
                              struct report_node *callee)
{
    struct edge_ends ends = {caller, callee};
    uint64_t hash = hash_set_hash(&edges->set, &ends, sizeof(ends));
    struct edge *edge = hash_set_find(&edges->set, hash, same_ends, &ends);
    if (edge != NULL)
        return edge;
    edge = arena_alloc(edges->arena, sizeof(*edge));
    edge->ends = ends;
    edge->is_inlined = true;
    hash_set_add(&edges->set, hash, edge);
    edges->list = heap_grow(edges->list, &edges->capacity, edges->count + 1, sizeof(*edges->list));
    edges->list[edges->count++] = edge;
    return edge;
}

static void add_call(struct edges *edges, const struct report_node *caller,
                     struct report_node *callee, bool is_inlined, uint64_t number, int64_t value)
{
    struct edge *edge = find_edge(edges, caller, callee);
    if (edge->last_sample == number)
        return;
    edge->last_sample = number;
    edge->weight = wrapping_add(edge->weight, value);
    edge->is_inlined = edge->is_inlined && is_inlined;
}

static void add_sample(struct edges *edges, const struct report_nodes *nodes,
                       const struct frame_filter *filter, const struct profile_sample *sample,
                       uint64_t number, int64_t value)
{
    uint32_t first = frame_filter_first_location(filter, sample);
    const struct report_node *caller = NULL;
    for (uint32_t i = sample->location_count; i > first; i--) {
        uint32_t location = sample->locations[i - 1]->index;
        size_t outermost = nodes->first[location + 1];
        for (size_t j = outermost; j > nodes->first[location]; j--) {
            struct report_node *node = nodes->of_frame[j - 1];
            if (!node->is_shown)
                continue;
            if (caller != NULL && caller != node && node->may_be_inlined)
                add_call(edges, caller, node, j != outermost, number, value);
            caller = node;
        }
    }
}

static void label_nodes(const struct report_nodes *nodes, const struct edges *edges, int64_t cutoff)
{
    for (size_t i = 0; i < nodes->count; i++)
        nodes->nodes[i]->inlining = REPORT_NOT_INLINED;
    /* First who is inlined by anybody, then who is called as well. */
    for (size_t i = 0; i < edges->count; i++)
        if (edges->list[i]->is_inlined && wrapping_abs(edges->list[i]->weight) >= cutoff)
            edges->list[i]->ends.callee->inlining = REPORT_INLINED;
    for (size_t i = 0; i < edges->count; i++)
        if (!edges->list[i]->is_inlined && wrapping_abs(edges->list[i]->weight) >= cutoff &&
            edges->list[i]->ends.callee->inlining == REPORT_INLINED)
            edges->list[i]->ends.callee->inlining = REPORT_PARTLY_INLINED;
}

static bool any_may_be_inlined(const struct report_nodes *nodes)
{
    for (size_t i = 0; i < nodes->count; i++)
        if (nodes->nodes[i]->is_shown && nodes->nodes[i]->may_be_inlined)
            return true;
    return false;
}

void report_inlining_find(struct report_nodes *nodes, const struct report_source *source,
                          int sample_type_index, int64_t cutoff)
{
    struct edges edges = {0};
    if (!any_may_be_inlined(nodes))
        return;
    edges.arena = arena_new();
    hash_set_init(&edges.set);
    for (size_t i = 0; i < source->profile->sample_count; i++) {
        const struct profile_sample *sample = source->profile->samples[i];
        int64_t value = sample->values[sample_type_index];
        if (value != 0)
            add_sample(&edges, nodes, source->filter, sample, i + 1, value);
    }
    label_nodes(nodes, &edges, cutoff);
    hash_set_done(&edges.set);
    free(edges.list);
    arena_free(edges.arena);
}
