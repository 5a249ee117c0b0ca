/* report.c: the table of a profile's functions, with pprof's rules for what is in it.
 *
 * One pass over the samples for flat and cum. pprof builds its graph anew after each cut; values do
 * not change by that, only which callers a function has, so that is done once, at the end. */
#include "cli/report.h"

#include "cli/frame_filter.h"
#include "cli/frame_names.h"
#include "cli/mapping_groups.h"
#include "cli/report_inlining.h"
#include "cli/report_labels.h"
#include "cli/report_total.h"
#include "cli/wrapping.h"
#include "proto/arena.h"
#include "proto/profile.h"

#include <stdlib.h>
#include <string.h>

/* Callers whose part in a function is below this fraction of the total do not count when a
 * function is labelled as inlined. pprof's edgefraction. */
#define EDGE_FRACTION 0.001

static void add_once(struct report_node *node, uint64_t number, const struct report_sums *sums)
{
    if (node->last_sample == number)
        return;
    node->last_sample = number;
    report_sums_add(&node->cum, sums);
}

static void add_sample(const struct report_nodes *nodes, const struct frame_filter *filter,
                       const struct profile_sample *sample, uint64_t number,
                       const struct report_sums *sums)
{
    uint32_t first = frame_filter_first_location(filter, sample);
    struct report_node *node = NULL;
    for (uint32_t i = sample->location_count; i > first; i--) {
        uint32_t location = sample->locations[i - 1]->index;
        for (size_t j = nodes->first[location + 1]; j > nodes->first[location]; j--) {
            node = nodes->of_frame[j - 1];
            add_once(node, number, sums);
        }
    }
    if (node != NULL)
        report_sums_add(&node->flat, sums);
}

/* Values of both signs may cancel out in a sample; what is unsure about them does not. */
static void add_samples(struct report *report, const struct report_source *source,
                        const struct report_source_types *types, bool of_base)
{
    const struct report_nodes *nodes = &report->nodes;
    for (size_t i = 0; i < source->profile->sample_count; i++) {
        const struct profile_sample *sample = source->profile->samples[i];
        struct report_sums sums = report_sums_of(sample, types);
        if (sums.value == 0 && !sums.has_extra)
            continue;
        if (!of_base || report_total_is_base(sample))
            report_sums_add(&report->total_sums, &sums);
        if (nodes->of_sample == NULL) {
            add_sample(nodes, source->filter, sample, i + 1, &sums);
        } else {
            report_sums_add(&nodes->of_sample[i]->cum, &sums);
            report_sums_add(&nodes->of_sample[i]->flat, &sums);
        }
    }
}

/* What is cut and shown of a node. */
static int64_t figure(const struct report_options *options, const struct report_sums *sums)
{
    if (options->ranking == REPORT_BY_TEMPORARY)
        return report_sums_rounded(sums->extra.temporary_objects);
    return sums->value;
}

static double rank(const struct report_options *options, const struct report_node *node)
{
    if (options->ranking != REPORT_BY_AGE)
        return 0;
    return options->by_cum ? node->cum.byte_age : node->flat.byte_age;
}

/* This part of all flat figures, as pprof cuts. */
static int64_t cutoff_at(const struct report *report, const struct report_options *options,
                         double fraction)
{
    int64_t sum = 0;
    for (size_t i = 0; i < report->nodes.count; i++)
        sum = wrapping_add(sum, figure(options, &report->nodes.nodes[i]->flat));
    return wrapping_abs(wrapping_fraction(sum, fraction));
}

/* Puts the nodes that have any figure, and no less than cutoff, into report->rows. */
static void collect_rows(struct report *report, const struct report_options *options,
                         int64_t cutoff)
{
    report->rows = heap_alloc((report->nodes.count + 1) * sizeof(*report->rows));
    for (size_t i = 0; i < report->nodes.count; i++) {
        struct report_node *node = report->nodes.nodes[i];
        int64_t flat = figure(options, &node->flat);
        int64_t cum = figure(options, &node->cum);
        if (cum == 0 && flat == 0)
            continue;
        if (cutoff > 0 && wrapping_abs(cum) < cutoff) {
            report->dropped_count++;
            continue;
        }
        report->rows[report->row_count++] = (struct report_row){
            .title = report_nodes_title(&report->nodes, node),
            .flat = flat,
            .cum = cum,
            .rank = rank(options, node),
            .node = node,
        };
    }
    report->kept_count = report->row_count;
}

/* Larger magnitudes first. */
static int compare_values(int64_t a, int64_t b)
{
    a = wrapping_abs(a);
    b = wrapping_abs(b);
    return (a < b) - (a > b);
}

static int compare_by(int64_t a, int64_t b, const struct report_row *a_row,
                      const struct report_row *b_row, int64_t a_other, int64_t b_other)
{
    int order = (a_row->rank < b_row->rank) - (a_row->rank > b_row->rank);
    if (order == 0)
        order = compare_values(a, b);
    if (order == 0)
        order = strcmp(a_row->title, b_row->title);
    if (order == 0)
        order = compare_values(a_other, b_other);
    return order != 0 ? order : report_node_compare(a_row->node, b_row->node);
}

static int compare_by_flat(const void *left, const void *right)
{
    const struct report_row *a = left;
    const struct report_row *b = right;
    return compare_by(a->flat, b->flat, a, b, a->cum, b->cum);
}

static int compare_by_cum(const void *left, const void *right)
{
    const struct report_row *a = left;
    const struct report_row *b = right;
    return compare_by(a->cum, b->cum, a, b, a->flat, b->flat);
}

/* A function's callers are looked for among what is shown. Where nothing was cut off that is all
 * there is, functions whose values cancel out to 0 included. */
static void mark_shown(struct report *report)
{
    bool all = report->dropped_count == 0 && report->row_count == report->kept_count;
    for (size_t i = 0; i < report->nodes.count; i++)
        report->nodes.nodes[i]->is_shown = all;
    for (size_t i = 0; i < report->row_count; i++)
        report->rows[i].node->is_shown = true;
}

static void make_nodes(struct report *report, const struct report_source *source,
                       const struct report_options *options)
{
    if (options->label != NULL)
        report_labels_init(&report->nodes, source->profile, options->label);
    else
        report_nodes_init(&report->nodes, source, options->by_lines);
}

static void sum_up(struct report *report, const struct report_source *source,
                   const struct report_options *options)
{
    struct report_source_types types = {
        .value = options->sample_type_index,
        .objects = options->objects_type_index,
        .oldest_age = source->profile->duration_nanos,
    };
    bool of_base;
    report->total = report_total(source->profile, report->groups, types.value, &of_base);
    add_samples(report, source, &types, of_base);
    if (options->ranking == REPORT_BY_TEMPORARY)
        report->total = figure(options, &report->total_sums);
}

void report_init(struct report *report, const struct profile *profile,
                 const struct report_options *options)
{
    struct frame_names *names = frame_names_new(profile);
    struct frame_filter *filter = frame_filter_new(profile, names);
    *report = (struct report){.groups = mapping_groups_new(profile)};
    struct report_source source = {profile, names, filter, report->groups};
    report->file = mapping_groups_file(report->groups,
                                       profile->mapping_count > 0 ? profile->mappings[0] : NULL);

    make_nodes(report, &source, options);
    sum_up(report, &source, options);
    collect_rows(report, options, cutoff_at(report, options, options->node_fraction));
    qsort(report->rows, report->row_count, sizeof(*report->rows),
          options->by_cum ? compare_by_cum : compare_by_flat);
    if (options->node_count > 0 && options->node_count < report->row_count)
        report->row_count = (size_t)options->node_count;

    mark_shown(report);
    struct report_options by_value = {.ranking = REPORT_BY_VALUE};
    report_inlining_find(&report->nodes, &source, options->sample_type_index,
                         cutoff_at(report, &by_value, EDGE_FRACTION));
    for (size_t i = 0; i < report->row_count; i++)
        report->rows[i].inlining = report->rows[i].node->inlining;
    frame_filter_free(filter);
    frame_names_free(names);
}

void report_done(struct report *report)
{
    free(report->rows);
    report_nodes_done(&report->nodes);
    mapping_groups_free(report->groups);
}
