/* report_nodes.h: the functions (or lines) of a profile that a report sums up.
 *
 * A node is a function; with lines, a line of a function. Functions of the same name are one, in
 * whatever file (by lines: in one file) they are. Code without a name is one node per file. Each
 * location of the profile leads to nodes: the function and those that were inlined into it.
 * Source: google/pprof internal/graph (NodeInfo). */
#ifndef HEAPPROF_CLI_REPORT_NODES_H
#define HEAPPROF_CLI_REPORT_NODES_H

#include "cli/report_sums.h"
#include "proto/text_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct frame_filter;
struct frame_names;
struct mapping_groups;
struct profile;
struct profile_location;

enum report_inlining {
    REPORT_NOT_INLINED,
    REPORT_INLINED,       /* by every caller that is shown */
    REPORT_PARTLY_INLINED /* by some */
};

struct report_node {
    const struct text *name;   /* of the function; "" when there is none */
    const struct text *file;   /* of the source; "" when not by lines */
    const struct text *object; /* path of the binary, for code without a name; else "" */
    int64_t line;
    int64_t start_line; /* of a function without a name */
    struct report_sums flat, cum;
    uint64_t last_sample; /* the last one that was added, + 1: counts recursion once */
    bool may_be_inlined;  /* some location has it inlined */
    bool is_shown;        /* not cut off */
    enum report_inlining inlining;
};

struct report_nodes {
    struct arena *arena;
    struct text_table texts;
    struct report_node **nodes;
    size_t count;
    size_t capacity;
    size_t *first;                  /* of location i: of_frame[first[i]] to [first[i + 1] - 1] */
    struct report_node **of_frame;  /* innermost first, without frames that filter hides */
    struct report_node **of_sample; /* of sample i, where nodes are not functions; else NULL */
};

/* What the nodes are made from. All must outlive the nodes. */
struct report_source {
    const struct profile *profile;
    const struct frame_names *names;
    const struct frame_filter *filter;
    const struct mapping_groups *groups;
};

void report_nodes_init(struct report_nodes *nodes, const struct report_source *source,
                       bool by_lines);
void report_nodes_done(struct report_nodes *nodes);

/* The name to show: "main.run", "main.run /src/run.c:12", "[libc.so.6]" or "<unknown>". Lives as
 * long as nodes. */
const char *report_nodes_title(struct report_nodes *nodes, const struct report_node *node);

/* Order of two nodes whose titles are equal, by all that tells them apart: as pprof compares what
 * Go's fmt.Sprint makes of its NodeInfo. */
int report_node_compare(const struct report_node *a, const struct report_node *b);

#endif
