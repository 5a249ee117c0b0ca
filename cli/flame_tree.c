/* flame_tree.c: the stacks of one sample type merged into a tree of calls.
 *
 * A node is found by (parent, name) in one open-addressed table, so a stack costs one probe a frame
 * and the whole is linear in the frames of the profile. A sample adds its value to the node of its
 * leaf only; parents are made before their children, so one pass from the last node to the first
 * carries the sums up to the root. Nothing recurses: stacks may be as deep as they like. */
#include "cli/flame_tree.h"

#include "cli/flame_names.h"
#include "cli/frame_filter.h"
#include "cli/frame_names.h"
#include "proto/arena.h"
#include "proto/error.h"
#include "proto/profile.h"

#include <stdlib.h>
#include <string.h>

/* How many samples lie between two calls of progress. */
#define PROGRESS_STRIDE 4096

#define FIRST_SLOTS 4096u

/* The key lies beside the number of its node: a probe touches one cache line, not the node too. */
struct tree_slot {
    uint32_t parent;
    uint32_t name;
    uint32_t node; /* 0 (the root, which is nobody's child) in an empty slot */
};

struct tree_builder {
    struct flame_tree *tree;
    struct frame_filter *filter;
    size_t node_capacity;
    struct tree_slot *slots; /* open addressing with linear probing, at most half full */
    size_t slot_count;       /* a power of two */
    bool full;               /* no number is left for another node */
};

/* Mixes both numbers into all bits (the finalizer of MurmurHash3, 64 bits). */
static uint64_t pair_hash(uint32_t parent, uint32_t name)
{
    uint64_t key = (uint64_t)parent << 32 | name;
    key = (key ^ key >> 33) * 0xff51afd7ed558ccdull;
    key = (key ^ key >> 33) * 0xc4ceb9fe1a85ec53ull;
    return key ^ key >> 33;
}

/* The slot of (parent, name), or the empty one where it belongs. */
static struct tree_slot *builder_slot(const struct tree_builder *builder, uint32_t parent,
                                      uint32_t name)
{
    size_t mask = builder->slot_count - 1;
    size_t at = pair_hash(parent, name) & mask;
    while (builder->slots[at].node != 0 &&
           (builder->slots[at].parent != parent || builder->slots[at].name != name))
        at = (at + 1) & mask;
    return &builder->slots[at];
}

static void builder_resize(struct tree_builder *builder, size_t slot_count)
{
    size_t bytes = slot_count * sizeof *builder->slots;
    free(builder->slots);
    builder->slots = heap_alloc(bytes);
    memset(builder->slots, 0, bytes);
    builder->slot_count = slot_count;
    for (uint32_t id = 1; id < builder->tree->node_count; id++) {
        const struct flame_node *node = &builder->tree->nodes[id];
        *builder_slot(builder, node->parent, node->name) =
            (struct tree_slot){node->parent, node->name, id};
    }
}

static uint32_t builder_add(struct tree_builder *builder, uint32_t parent, uint32_t name)
{
    struct flame_tree *tree = builder->tree;
    if (tree->node_count >= FLAME_NO_NODE - 1) {
        builder->full = true;
        return FLAME_NO_NODE;
    }
    tree->nodes = heap_grow(tree->nodes, &builder->node_capacity, (size_t)tree->node_count + 1,
                            sizeof *tree->nodes);
    uint32_t id = tree->node_count++;
    tree->nodes[id] =
        (struct flame_node){.name = name, .parent = parent, .depth = tree->nodes[parent].depth + 1};
    if (tree->node_count > builder->slot_count / 2)
        builder_resize(builder, builder->slot_count * 2);
    else
        *builder_slot(builder, parent, name) = (struct tree_slot){parent, name, id};
    return id;
}

/* The child of parent for one frame: of function (NULL when unknown) called at location. */
static uint32_t builder_child(struct tree_builder *builder, uint32_t parent,
                              const struct profile_function *function,
                              const struct profile_location *location)
{
    uint32_t name = flame_names_of(builder->tree->names, function, location);
    uint32_t id = builder_slot(builder, parent, name)->node;
    if (id != 0)
        return id;
    id = builder_add(builder, parent, name);
    if (id != FLAME_NO_NODE) {
        builder->tree->nodes[id].function = function;
        builder->tree->nodes[id].mapping = location->mapping;
    }
    return id;
}

/* The node that the sample's stack leads to, FLAME_NO_NODE when the tree is full. */
static uint32_t builder_walk(struct tree_builder *builder, const struct profile_sample *sample)
{
    uint32_t id = 0;
    uint32_t first = frame_filter_first_location(builder->filter, sample);
    for (uint32_t i = sample->location_count; i > first && !builder->full; i--) {
        const struct profile_location *location = sample->locations[i - 1];
        uint32_t shown = frame_filter_first_line(builder->filter, location);
        if (location->line_count == 0)
            id = builder_child(builder, id, NULL, location);
        for (uint32_t j = location->line_count; j > shown && !builder->full; j--)
            id = builder_child(builder, id, location->lines[j - 1].function, location);
    }
    return id;
}

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* That all magnitudes together fit 64 bits bounds every sum made later. */
static bool magnitudes_fit(const struct profile *profile, int type_index)
{
    uint64_t total = 0;
    for (size_t i = 0; i < profile->sample_count; i++)
        if (__builtin_add_overflow(total, magnitude(profile->samples[i]->values[type_index]),
                                   &total))
            return false;
    return true;
}

static void builder_add_samples(struct tree_builder *builder, const struct profile *profile,
                                int type_index,
                                void (*progress)(void *context, uint64_t done, uint64_t total),
                                void *context)
{
    for (size_t i = 0; i < profile->sample_count && !builder->full; i++) {
        const struct profile_sample *sample = profile->samples[i];
        int64_t value = sample->values[type_index];
        if (progress != NULL && i % PROGRESS_STRIDE == 0)
            progress(context, i, profile->sample_count);
        if (value == 0)
            continue;
        uint32_t leaf = builder_walk(builder, sample);
        if (builder->full)
            return;
        struct flame_node *node = &builder->tree->nodes[leaf];
        if (value > 0)
            node->self_growth += magnitude(value);
        else
            node->self_shrink += magnitude(value);
    }
}

static void tree_sum_up(struct flame_tree *tree)
{
    for (uint32_t i = 0; i < tree->node_count; i++) {
        tree->nodes[i].growth = tree->nodes[i].self_growth;
        tree->nodes[i].shrink = tree->nodes[i].self_shrink;
    }
    for (uint32_t i = tree->node_count - 1; i > 0; i--) {
        struct flame_node *parent = &tree->nodes[tree->nodes[i].parent];
        parent->growth += tree->nodes[i].growth;
        parent->shrink += tree->nodes[i].shrink;
    }
}

bool flame_tree_init(struct flame_tree *tree, const struct profile *profile, int type_index,
                     void (*progress)(void *context, uint64_t done, uint64_t total), void *context,
                     struct error *error)
{
    *tree = (struct flame_tree){0};
    if (!magnitudes_fit(profile, type_index)) {
        error_set(error, profile->sample_types[type_index].type,
                  "the values add up to more than 64 bits can hold");
        return false;
    }
    struct frame_names *frame_names = frame_names_new(profile);
    struct tree_builder builder = {.tree = tree};
    builder.filter = frame_filter_new(profile, frame_names);
    tree->names = flame_names_new(profile, frame_names);
    tree->frame_names = frame_names;
    builder_resize(&builder, FIRST_SLOTS);
    tree->nodes = heap_grow(NULL, &builder.node_capacity, 1, sizeof *tree->nodes);
    tree->nodes[0] = (struct flame_node){.name = FLAME_NAME_ROOT, .parent = FLAME_NO_NODE};
    tree->node_count = 1;

    builder_add_samples(&builder, profile, type_index, progress, context);
    tree_sum_up(tree);
    free(builder.slots);
    frame_filter_free(builder.filter);
    if (builder.full) {
        error_set(error, NULL, "too many different stacks for one flamegraph");
        flame_tree_done(tree);
        return false;
    }
    return true;
}

void flame_tree_done(struct flame_tree *tree)
{
    free(tree->nodes);
    flame_names_free(tree->names);
    frame_names_free(tree->frame_names);
    *tree = (struct flame_tree){0};
}

const char *flame_tree_name(const struct flame_tree *tree, const struct flame_node *node)
{
    return flame_names_text(tree->names, node->name);
}
