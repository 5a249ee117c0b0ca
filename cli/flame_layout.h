/* flame_layout.h: which frames of a tree are drawn, and where.
 *
 * Horizontal positions stay in the unit of the profile's values: who draws divides by the total.
 * Frames too narrow to be seen are left out, so that a huge profile gives a small picture, and how
 * much was left out is counted. */
#ifndef HEAPPROF_CLI_FLAME_LAYOUT_H
#define HEAPPROF_CLI_FLAME_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flame_tree;

enum flame_order {
    FLAME_ORDER_VALUE, /* siblings: the widest first, equal ones by name */
    FLAME_ORDER_NAME   /* siblings by the bytes of their names */
};

/* Stacks are drawn this deep; deeper frames are left out and counted. */
#define FLAME_MAX_DEPTH 1024u

struct flame_limits {
    double min_width;    /* 0 to 1: frames narrower than this share of the total are left out */
    uint64_t max_frames; /* more frames than this raise min_width, up to a thousandth; 0: never */
    enum flame_order order;
};

struct flame_frame {
    uint64_t start;  /* left edge, from the left edge of the root */
    uint64_t width;  /* growth + shrink; children lie side by side from the left edge on */
    uint32_t node;   /* index into the tree's nodes */
    uint32_t parent; /* index into frames, less than the frame's own; 0 for the root itself */
    uint32_t depth;  /* 0 for the root */
};

struct flame_layout {
    struct flame_frame *frames; /* in preorder: a frame's descendants follow it at once */
    size_t frame_count;         /* 1 at least: the root is always there */
    uint64_t total;             /* the root's width; 0 for an empty profile */
    uint32_t row_count;         /* the largest depth + 1 */
    uint64_t narrowest;         /* frames narrower than this were left out; 1 at least */
    size_t narrow_count;        /* frames left out because they are too narrow */
    uint64_t narrow_width;      /* what they cover together; nested ones count once */
    size_t deep_count;          /* frames left out because they are too deep, and wide enough */
};

/* Chooses and places the frames of tree. Cannot fail; freed with flame_layout_done. Time: linear in
 * the nodes of the tree, n log n in the frames drawn. */
void flame_layout_init(struct flame_layout *layout, const struct flame_tree *tree,
                       const struct flame_limits *limits);
void flame_layout_done(struct flame_layout *layout);

#endif
