/* flame_tree.h: the stacks of one sample type merged into a tree of calls.
 *
 * Stacks that begin alike, seen from the root, share nodes; functions with equal names are the
 * same. Inlined functions are frames of their own, and frames that the profile's drop_frames hides
 * are left out as in the other reports. In a profile that is a difference, growth and shrinkage are
 * kept apart, so that what grew in one place does not hide what shrank below it. */
#ifndef HEAPPROF_CLI_FLAME_TREE_H
#define HEAPPROF_CLI_FLAME_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct profile;
struct profile_function;
struct profile_mapping;
struct flame_names;
struct frame_names;

#define FLAME_NO_NODE UINT32_MAX

/* Values are in the unit of the sample type. "self" is what ends in this node, without its
 * children; the others are sums over it and all its descendants. */
struct flame_node {
    uint64_t growth; /* sum of the positive values */
    uint64_t shrink; /* sum of the negative values, without their sign */
    uint64_t self_growth;
    uint64_t self_shrink;
    const struct profile_function *function; /* the first one met; NULL when there is none */
    const struct profile_mapping *mapping;   /* the first one met; NULL when there is none */
    uint32_t name;                           /* for flame_tree_name */
    uint32_t parent;                         /* less than the node's own index */
    uint32_t depth;                          /* 0 for the root */
};

struct flame_tree {
    struct flame_node *nodes; /* nodes[0] is the root, called "all"; parents before children */
    uint32_t node_count;      /* at least 1 */
    struct flame_names *names;
    struct frame_names *frame_names; /* owns the texts that names numbers */
};

/* Merges the samples of profile, which must outlive the tree, by their values of sample type
 * type_index (valid in profile). Linear in the frames of all samples. False, with *error filled and
 * nothing to free, when the values add up to 2^64 or more, or for more than 2^32 - 2 nodes.
 * progress may be NULL; it is called now and then with samples done and in all. */
bool flame_tree_init(struct flame_tree *tree, const struct profile *profile, int type_index,
                     void (*progress)(void *context, uint64_t done, uint64_t total), void *context,
                     struct error *error);
void flame_tree_done(struct flame_tree *tree);

/* The name of the function, or of the place where code has no name; never NULL, may be any valid
 * UTF-8. Owned by the tree. */
const char *flame_tree_name(const struct flame_tree *tree, const struct flame_node *node);

/* growth + shrink: what the node is wide. Cannot overflow in a tree that was made. */
static inline uint64_t flame_node_width(const struct flame_node *node)
{
    return node->growth + node->shrink;
}

#endif
