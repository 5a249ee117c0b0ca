/* report.c: the table of a profile's functions, with pprof's rules for what is in it.
 *
 * One pass over the samples for flat and cum. pprof builds its graph anew after each cut; values do
 * not change by that, only which callers a function has, so that is done once, at the end. */
#include "cli/report.h"

#include "cli/frame_filter.h"
#include "cli/frame_names.h"
#include "cli/mapping_groups.h"
#include "cli/report_inlining.h"
#include "cli/report_total.h"
#include "cli/wrapping.h"
#include "proto/arena.h"
#include "proto/profile.h"

#include <stdlib.h>
#include <string.h>

/* Callers whose part in a function is below this fraction of the total do not count when a
 * function is labelled as inlined. pprof's edgefraction. */
#define EDGE_FRACTION 0.001

static void add_sample(const struct report_nodes *nodes, const struct frame_filter *filter,
                       const struct profile_sample *sample, uint64_t number, int64_t value)
{
    uint32_t first = frame_filter_first_location(filter, sample);
    struct report_node *node = NULL;
    for (uint32_t i = sample->location_count; i > first; i--) {
        uint32_t location = sample->locations[i - 1]->index;
        for (size_t j = nodes->first[location + 1]; j > nodes->first[location]; j--) {
            node = nodes->of_frame[j - 1];
            if (node->last_sample == number)
                continue;
            node->last_sample = number;
            node->cum = wrapping_add(node->cum, value);
        }
    }
    if (node != NULL)
        node->flat = wrapping_add(node->flat, value);
}

static void add_samples(const struct report_nodes *nodes, const struct report_source *source,
                        int sample_type_index)
{
    for (size_t i = 0; i < source->profile->sample_count; i++) {
        const struct profile_sample *sample = source->profile->samples[i];
        int64_t value = sample->values[sample_type_index];
        if (value != 0)
            add_sample(nodes, source->filter, sample, i + 1, value);
    }
}

static int64_t sum_of_flats(const struct report_nodes *nodes)
{
    int64_t sum = 0;
    for (size_t i = 0; i < nodes->count; i++)
        sum = wrapping_add(sum, nodes->nodes[i]->flat);
    return sum;
}

/* Puts the nodes that have any value, and no less than cutoff, into report->rows. */
static void collect_rows(struct report *report, int64_t cutoff)
{
    report->rows = heap_alloc((report->nodes.count + 1) * sizeof(*report->rows));
    for (size_t i = 0; i < report->nodes.count; i++) {
        struct report_node *node = report->nodes.nodes[i];
        if (node->cum == 0 && node->flat == 0)
            continue;
        if (cutoff > 0 && wrapping_abs(node->cum) < cutoff) {
            report->dropped_count++;
            continue;
        }
        report->rows[report->row_count++] = (struct report_row){
            .title = report_nodes_title(&report->nodes, node),
            .flat = node->flat,
            .cum = node->cum,
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
    int order = compare_values(a, b);
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

void report_init(struct report *report, const struct profile *profile,
                 const struct report_options *options)
{
    struct frame_names *names = frame_names_new(profile);
    struct frame_filter *filter = frame_filter_new(profile, names);
    *report = (struct report){.groups = mapping_groups_new(profile)};
    struct report_source source = {profile, names, filter, report->groups};
    report->total = report_total(profile, report->groups, options->sample_type_index);
    report->file = mapping_groups_file(report->groups,
                                       profile->mapping_count > 0 ? profile->mappings[0] : NULL);

    report_nodes_init(&report->nodes, &source, options->by_lines);
    add_samples(&report->nodes, &source, options->sample_type_index);
    int64_t sum = sum_of_flats(&report->nodes);
    collect_rows(report, wrapping_abs(wrapping_fraction(sum, options->node_fraction)));
    qsort(report->rows, report->row_count, sizeof(*report->rows),
          options->by_cum ? compare_by_cum : compare_by_flat);
    if (options->node_count > 0 && options->node_count < report->row_count)
        report->row_count = (size_t)options->node_count;

    mark_shown(report);
    report_inlining_find(&report->nodes, &source, options->sample_type_index,
                         wrapping_abs(wrapping_fraction(sum, EDGE_FRACTION)));
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
