/* top.c: heapprof top, where the memory goes, as text.
 *
 * What is printed by --error=never is, to the character, what `go tool pprof -top` prints of the
 * same file: header, columns, units, cut-offs. Deliberate exceptions: control characters are shown
 * escaped. The figures come from report.c, the page is top_page.c. */
#include "cli/command.h"
#include "cli/machine_comments.h"
#include "cli/option.h"
#include "cli/quantity.h"
#include "cli/report.h"
#include "cli/report_input.h"
#include "cli/report_labels.h"
#include "cli/top_page.h"
#include "cli/top_table.h"
#include "cli/wrapping.h"
#include "proto/error.h"
#include "proto/profile.h"

#include <string.h>

#define DEFAULT_NODE_COUNT 30
#define DEFAULT_NODE_FRACTION 0.005 /* pprof's */

struct top_options {
    const char *sample_type;
    uint64_t node_count;
    double node_fraction;
    const char *error;
    const char *by;
    bool cum;
    bool lines;
    bool temporary;
    bool by_age;
};

#define TO(field) offsetof(struct top_options, field)

static const char *const error_choices[] = {"auto", "always", "never", NULL};

static const struct option_row top_rows[] = {
    {0, "sample-type", "NAME", OPTION_TEXT, TO(sample_type),
     "show {alloc,inuse,peak}_{objects,space} (default: the file's own, peak_space for a run that "
     "has ended)",
     NULL},
    {'n', "node-count", "N", OPTION_NUMBER, TO(node_count),
     "show at most N rows (default 30; 0 shows all)", NULL},
    {0, "node-fraction", "F", OPTION_FRACTION, TO(node_fraction),
     "leave out functions below this fraction of the total (default 0.005)", NULL},
    {0, "cum", NULL, OPTION_FLAG, TO(cum), "sort by cumulative value", NULL},
    {0, "lines", NULL, OPTION_FLAG, TO(lines), "a row for each source line, not each function",
     NULL},
    {0, "by", "KEY", OPTION_TEXT, TO(by),
     "a row for each value of the label KEY, such as thread (default: function)", NULL},
    {0, "temporary", NULL, OPTION_FLAG, TO(temporary),
     "rank by objects that were freed soon, and show lifetimes", NULL},
    {0, "by-age", NULL, OPTION_FLAG, TO(by_age),
     "rank what is in use by bytes times age, and show ages", NULL},
    {0, "error", "WHEN", OPTION_CHOICE, TO(error),
     "show errors (\u00b1) always, never, or auto: when one is over 1 % of its value",
     error_choices},
    {0},
};

/* The unit for all values: where there are no rows, each takes the one that suits it. */
static const char *choose_unit(const struct report *report, const char *unit)
{
    int64_t smallest = 0;
    if (report->row_count == 0)
        return "auto";
    for (size_t i = 0; i < report->row_count; i++) {
        int64_t value = wrapping_abs(report->rows[i].flat);
        if (value == 0)
            value = wrapping_abs(report->rows[i].cum);
        if (value > 0 && (smallest == 0 || value < smallest))
            smallest = value;
    }
    return quantity_common_unit(smallest, report->total, unit);
}

static const struct top_view *view_of(const struct top_options *options)
{
    if (options->temporary)
        return &top_view_temporary;
    return options->by_age ? &top_view_age : &top_view_values;
}

/* The label that makes the rows; NULL: functions do. */
static const char *label_of(const struct top_options *options)
{
    return strcmp(options->by, "function") != 0 ? options->by : NULL;
}

/* Options that are each fine but say different things. */
static bool check_options(const struct top_options *options, struct error *error)
{
    const char *view = options->temporary ? "--temporary" : options->by_age ? "--by-age" : NULL;
    if (options->temporary && options->by_age)
        error_set(error, "top", "--temporary and --by-age exclude each other");
    else if (options->lines && label_of(options) != NULL)
        error_set(error, "top", "--lines and --by=%s exclude each other", options->by);
    else if (view != NULL && options->sample_type != NULL)
        error_set(error, "top", "%s is about %s, whatever --sample-type says", view,
                  view_of(options)->sample_type);
    else if (view != NULL && strcmp(options->error, "always") == 0)
        error_set(error, "top", "%s shows no errors: --error=always is for other tables", view);
    else
        return true;
    return false;
}

/* Runs that record lifetimes say what they take for temporary. */
static bool has_lifetimes(const struct profile *profile)
{
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct profile_sample_extra *extra = &profile->samples[i]->extra;
        if (extra->freed_objects > 0 || extra->age_sum > 0)
            return true;
    }
    return machine_comment(profile, "temporary_threshold_ns") != NULL;
}

/* The option of `heapprof run` that records the label; NULL for none. */
static const char *run_option_of(const char *label)
{
    if (strcmp(label, "thread") == 0 || strcmp(label, "tid") == 0)
        return "--threads";
    return strcmp(label, "bytes") == 0 ? "--sizes" : NULL;
}

/* Whether the profile has what the options ask for. */
static bool check_profile(const struct profile *profile, const char *path,
                          const struct top_options *options, struct error *error)
{
    char keys[REPORT_LABELS_KEYS_SIZE];
    const char *label = label_of(options);
    if (view_of(options)->ranking != REPORT_BY_VALUE && !has_lifetimes(profile)) {
        error_set(error, path, "carries no lifetimes of objects");
        return false;
    }
    if (label == NULL || report_labels_has(profile, label))
        return true;
    report_labels_keys(profile, keys);
    const char *option = run_option_of(label);
    if (option && machine_comment(profile, "rate"))
        error_set(error, path, "no label '%s'; `heapprof run %s` records it", label, option);
    else if (keys[0] == '\0')
        error_set(error, path, "no label '%s'; it has no labels", label);
    else
        error_set(error, path, "no label '%s'; it has %s", label, keys);
    return false;
}

/* Whether any error shown would say something. */
static bool any_error_matters(const struct report *report, const struct report_errors *errors)
{
    for (size_t i = 0; i < report->row_count; i++) {
        const struct report_node *node = report->rows[i].node;
        if (report_errors_matter(errors, &node->flat) || report_errors_matter(errors, &node->cum))
            return true;
    }
    return false;
}

static void choose_errors(struct top_page *page, const struct top_options *options)
{
    bool always = strcmp(options->error, "always") == 0;
    if (page->view->ranking != REPORT_BY_VALUE || strcmp(options->error, "never") == 0)
        return;
    page->tells_missing_errors = always && page->errors.missing != NULL;
    page->shows_errors =
        page->errors.missing == NULL && (always || any_error_matters(page->report, &page->errors));
}

static void print_report(const struct profile *profile, int type_index,
                         const struct top_options *options)
{
    struct report report;
    const struct top_view *view = view_of(options);
    struct report_options report_options = {
        .sample_type_index = type_index,
        .objects_type_index = -1,
        .ranking = view->ranking,
        .label = label_of(options),
        .by_lines = options->lines,
        .by_cum = options->cum,
        .node_count = options->node_count,
        .node_fraction = options->node_fraction,
    };
    if (view->objects_type != NULL)
        report_options.objects_type_index = profile_sample_type_index(profile, view->objects_type);
    report_init(&report, profile, &report_options);
    const struct profile_value_type *type = &profile->sample_types[type_index];
    struct top_page page = {
        .profile = profile,
        .report = &report,
        .type = type,
        .view = view,
        .unit = choose_unit(&report, type->unit),
        .node_fraction = options->node_fraction,
        .by_cum = options->cum,
        .errors = report_errors_find(profile, type_index),
    };
    choose_errors(&page, options);
    top_page_print(&page);
    report_done(&report);
}

static int top_run(const struct command *command, int argc, char **argv)
{
    struct error error = {0};
    struct top_options options = {
        .node_count = DEFAULT_NODE_COUNT,
        .node_fraction = DEFAULT_NODE_FRACTION,
        .error = "auto",
        .by = "function",
    };
    const char *path;
    int type_index, status;
    if (!report_input_arguments(command, argc, argv, &options, &path, &status))
        return status;
    if (!check_options(&options, &error))
        return command_fail(STATUS_USAGE, &error);
    const char *sample_type = view_of(&options)->sample_type;
    struct profile *profile = report_input_read(
        path, sample_type != NULL ? sample_type : options.sample_type, &type_index, &error);
    if (profile == NULL)
        return command_fail(STATUS_FAILED, &error);
    bool ok = check_profile(profile, path, &options, &error);
    if (ok)
        print_report(profile, type_index, &options);
    profile_free(profile);
    return ok ? STATUS_OK : command_fail(STATUS_FAILED, &error);
}

const struct command top_command = {
    .name = "top",
    .operands = "FILE",
    .summary = "show where the memory goes, as a table",
    .details =
        "flat is what a function itself accounts for, cum what it and all it called do;\n"
        "sum% adds up flat%. The figures are those of `go tool pprof -top`.\n"
        "\n"
        "\u00b1 is two standard errors of the figure before it; with > it rests on fewer than\n"
        "10 samples and is a lower bound.\n"
        "\n"
        "--temporary: flat and cum count objects freed within the temporary threshold\n"
        "(1ms); temp% is their share of all that the function allocated, freed how many\n"
        "objects were freed at all, mean, min and max their lifetimes, other% the share\n"
        "that another thread freed. With --cum these are of all that it called as well.\n"
        "\n"
        "--by-age: age is the mean age of a byte in use; what is large and has stayed\n"
        "long comes first.",
    .rows = top_rows,
    .run = top_run,
};
