/* pattern_syntax.h: a regular expression as a tree. See pattern.h for the syntax. */
#ifndef HEAPPROF_CLI_PATTERN_SYNTAX_H
#define HEAPPROF_CLI_PATTERN_SYNTAX_H

#include "cli/pattern_class.h"

#include <stddef.h>

struct arena;

enum pattern_kind {
    PATTERN_CLASS,     /* one character out of ranges[0..range_count) */
    PATTERN_ASSERT,    /* an empty string at a place that fits assertion */
    PATTERN_SEQUENCE,  /* the children one after the other; none: the empty string */
    PATTERN_ALTERNATE, /* any of the children */
    PATTERN_REPEAT     /* the child, minimum to maximum times */
};

enum pattern_assertion {
    PATTERN_TEXT_BEGIN,
    PATTERN_TEXT_END,
    PATTERN_LINE_BEGIN,
    PATTERN_LINE_END,
    PATTERN_WORD_EDGE,
    PATTERN_NO_WORD_EDGE
};

#define PATTERN_NO_MAXIMUM (-1)
#define PATTERN_REPEAT_LIMIT 1000 /* for the numbers in {n,m}, and their product when nested */
struct pattern_node {
    enum pattern_kind kind;
    enum pattern_assertion assertion;
    const struct pattern_range *ranges;
    size_t range_count;
    int minimum, maximum; /* maximum may be PATTERN_NO_MAXIMUM */
    struct pattern_node *child;
    struct pattern_node *next; /* sibling */
};

/* The tree of text, all of it in arena; at most some thousand levels high. NULL when text is not
 * valid or longer than 64 KiB. text may go afterwards. */
struct pattern_node *pattern_parse(const char *text, struct arena *arena);

#endif
