/* report.h: the table of a profile's functions, with pprof's rules for what is in it.
 *
 * flat is what a function itself accounts for, cum what it and all it called do; a function that
 * recurs counts once per sample. Functions whose cum is below a fraction of the total are dropped,
 * of the rest the largest are shown. Rows, values, order and labels are those of
 * `go tool pprof -top`. Source: google/pprof internal/report/report.go, internal/graph/graph.go. */
#ifndef HEAPPROF_CLI_REPORT_H
#define HEAPPROF_CLI_REPORT_H

#include "cli/report_nodes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

/* What rows are ranked and cut by. */
enum report_ranking {
    REPORT_BY_VALUE,     /* of the sample type */
    REPORT_BY_TEMPORARY, /* objects freed within the temporary threshold */
    /* Cut by value, ranked by value times its mean age: what is large and has stayed long comes
     * first; large and young, or old and tiny, after it. */
    REPORT_BY_AGE
};

struct report_options {
    int sample_type_index;  /* valid in the profile */
    int objects_type_index; /* that counts the objects of it; -1 for none */
    enum report_ranking ranking;
    const char *label;    /* rows are values of the label of this key; NULL: functions */
    bool by_lines;        /* rows are lines of functions */
    bool by_cum;          /* sorted by cum, not flat */
    uint64_t node_count;  /* at most so many rows; 0 for no limit */
    double node_fraction; /* 0 to 1: drop what is below this part of the total */
};

struct report_row {
    const char *title; /* valid UTF-8, may hold anything */
    int64_t flat, cum; /* what is ranked and cut: values, or temporary objects */
    double rank;       /* goes before flat and cum; 0 for all rows where these decide */
    enum report_inlining inlining;
    struct report_node *node; /* holds all sums */
};

struct report {
    struct report_row *rows; /* largest first */
    size_t row_count;
    size_t kept_count;    /* rows that there would be without a limit */
    size_t dropped_count; /* rows dropped for being small */
    int64_t total;        /* what 100% is; see report_total.h */
    struct report_sums total_sums;
    const char *file; /* path of the program, "" when unknown */
    struct report_nodes nodes;
    struct mapping_groups *groups;
};

/* Fills *report from profile, which must outlive it. Time is linear in the frames of all samples.
 * Ends with report_done. */
void report_init(struct report *report, const struct profile *profile,
                 const struct report_options *options);
void report_done(struct report *report);

#endif
