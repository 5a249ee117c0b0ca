/* flame_layout.c: which frames of a tree are drawn, and where.
 *
 * A node is never wider than its parent, so "at least this wide" always leaves a tree. When that
 * would still be too many frames, the limit is raised to just above the widest frame that does not
 * fit in: those left are the widest ones, with no frame preferred over an equal one. Frames of a
 * thousandth of the total are drawn in any case, whatever their number: they can be read. */
#include "cli/flame_layout.h"

#include "cli/flame_tree.h"
#include "proto/arena.h"

#include <stdlib.h>
#include <string.h>

/* 1 / this of the total is drawn however many frames there are. */
#define ALWAYS_DRAWN 1000

struct layout_builder {
    const struct flame_tree *tree;
    struct flame_layout *layout;
    enum flame_order order;
    uint32_t *kept; /* nodes to draw but the root, children of one parent side by side, in order */
    size_t kept_count;
    uint32_t *first_child; /* by node: position in kept, FLAME_NO_NODE when it has none there */
};

/* ceil(total * share), at least 1, at most total. Doubles are exact enough: a frame one byte too
 * narrow more or less cannot be seen. */
static uint64_t share_of(uint64_t total, double share)
{
    if (!(share > 0))
        return 1;
    if (share >= 1)
        return total > 0 ? total : 1;
    double width = (double)total * share;
    uint64_t whole = (uint64_t)width;
    if ((double)whole < width)
        whole++;
    return whole > 0 ? whole : 1;
}

static int width_compare_descending(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a < b) - (a > b);
}

/* The limit that leaves at most max_frames frames, narrowest or more. */
static uint64_t raise_narrowest(const struct flame_tree *tree, uint64_t narrowest,
                                uint64_t max_frames)
{
    size_t count = 0;
    uint64_t *widths = heap_alloc(tree->node_count * sizeof *widths);
    for (uint32_t i = 0; i < tree->node_count; i++) {
        uint64_t width = flame_node_width(&tree->nodes[i]);
        if (width >= narrowest && tree->nodes[i].depth < FLAME_MAX_DEPTH)
            widths[count++] = width;
    }
    if (count > max_frames) {
        qsort(widths, count, sizeof *widths, width_compare_descending);
        uint64_t readable = share_of(flame_node_width(&tree->nodes[0]), 1.0 / ALWAYS_DRAWN);
        uint64_t wanted = widths[max_frames] < UINT64_MAX ? widths[max_frames] + 1 : UINT64_MAX;
        if (wanted > readable)
            wanted = readable;
        if (wanted > narrowest)
            narrowest = wanted;
    }
    free(widths);
    return narrowest;
}

static void builder_choose(struct layout_builder *builder)
{
    const struct flame_tree *tree = builder->tree;
    struct flame_layout *layout = builder->layout;
    builder->kept = heap_alloc(tree->node_count * sizeof *builder->kept);
    for (uint32_t i = 1; i < tree->node_count; i++) {
        const struct flame_node *node = &tree->nodes[i];
        uint64_t width = flame_node_width(node);
        if (width >= layout->narrowest && node->depth < FLAME_MAX_DEPTH) {
            builder->kept[builder->kept_count++] = i;
        } else if (width >= layout->narrowest) {
            layout->deep_count++;
        } else {
            const struct flame_node *parent = &tree->nodes[node->parent];
            layout->narrow_count++;
            if (flame_node_width(parent) >= layout->narrowest)
                layout->narrow_width += width;
        }
    }
}

static int node_compare(const void *left, const void *right, void *context)
{
    const struct layout_builder *builder = context;
    uint32_t left_id = *(const uint32_t *)left;
    uint32_t right_id = *(const uint32_t *)right;
    const struct flame_node *a = &builder->tree->nodes[left_id];
    const struct flame_node *b = &builder->tree->nodes[right_id];
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    uint64_t a_width = flame_node_width(a);
    uint64_t b_width = flame_node_width(b);
    if (builder->order == FLAME_ORDER_VALUE && a_width != b_width)
        return a_width > b_width ? -1 : 1;
    int by_name = strcmp(flame_tree_name(builder->tree, a), flame_tree_name(builder->tree, b));
    return by_name != 0 ? by_name : (left_id > right_id) - (left_id < right_id);
}

static void builder_sort(struct layout_builder *builder)
{
    const struct flame_tree *tree = builder->tree;
    qsort_r(builder->kept, builder->kept_count, sizeof *builder->kept, node_compare, builder);
    size_t bytes = tree->node_count * sizeof *builder->first_child;
    builder->first_child = heap_alloc(bytes);
    memset(builder->first_child, 0xff, bytes);
    for (size_t i = builder->kept_count; i > 0; i--)
        builder->first_child[tree->nodes[builder->kept[i - 1]].parent] = (uint32_t)(i - 1);
}

/* Appends the frame of node, at start, below the frame parent. */
static void layout_append(struct flame_layout *layout, const struct flame_tree *tree, uint32_t node,
                          uint32_t parent, uint64_t start)
{
    uint32_t depth = tree->nodes[node].depth;
    layout->frames[layout->frame_count++] =
        (struct flame_frame){.start = start,
                             .width = flame_node_width(&tree->nodes[node]),
                             .node = node,
                             .parent = parent,
                             .depth = depth};
    if (depth >= layout->row_count)
        layout->row_count = depth + 1;
}

/* Walks the kept nodes in preorder. open[d] is the place in kept of the next frame to append at
 * depth d: one entry a level is all that a walk without recursion needs. */
static void builder_place(struct layout_builder *builder)
{
    struct flame_layout *layout = builder->layout;
    const struct flame_tree *tree = builder->tree;
    struct level {
        uint32_t next;   /* position in kept */
        uint32_t parent; /* frame */
        uint64_t start;  /* of the next one */
    } levels[FLAME_MAX_DEPTH + 1];

    layout->frames = heap_alloc((builder->kept_count + 1) * sizeof *layout->frames);
    layout_append(layout, tree, 0, 0, 0);
    uint32_t depth = 1;
    levels[depth] = (struct level){builder->first_child[0], 0, 0};
    while (depth > 0) {
        struct level *level = &levels[depth];
        uint32_t parent_node = layout->frames[level->parent].node;
        if (level->next >= builder->kept_count ||
            tree->nodes[builder->kept[level->next]].parent != parent_node) {
            depth--;
            continue;
        }
        uint32_t node = builder->kept[level->next++];
        uint32_t frame = (uint32_t)layout->frame_count;
        layout_append(layout, tree, node, level->parent, level->start);
        level->start += layout->frames[frame].width;
        if (builder->first_child[node] != FLAME_NO_NODE)
            levels[++depth] =
                (struct level){builder->first_child[node], frame, layout->frames[frame].start};
    }
}

void flame_layout_init(struct flame_layout *layout, const struct flame_tree *tree,
                       const struct flame_limits *limits)
{
    struct layout_builder builder = {.tree = tree, .layout = layout, .order = limits->order};
    *layout = (struct flame_layout){.total = flame_node_width(&tree->nodes[0])};
    layout->narrowest = share_of(layout->total, limits->min_width);
    if (limits->max_frames > 0)
        layout->narrowest = raise_narrowest(tree, layout->narrowest, limits->max_frames);
    builder_choose(&builder);
    builder_sort(&builder);
    builder_place(&builder);
    free(builder.kept);
    free(builder.first_child);
}

void flame_layout_done(struct flame_layout *layout)
{
    free(layout->frames);
    *layout = (struct flame_layout){0};
}
