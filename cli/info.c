/* info.c: heapprof info, what a profile says about itself. */
#include "cli/command.h"
#include "cli/machine_comments.h"
#include "cli/option.h"
#include "cli/profile_facts.h"
#include "cli/report_input.h"
#include "cli/size_histogram.h"
#include "cli/size_picture.h"
#include "cli/terminal_size.h"
#include "cli/text_chart.h"
#include "cli/timeline.h"
#include "cli/timeline_picture.h"
#include "proto/arena.h"
#include "proto/error.h"
#include "proto/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TABLE_LINES = 40 };

struct info_options {
    bool is_verbose;
};

#define TO(field) offsetof(struct info_options, field)

static const struct option_row info_rows[] = {
    {'v', "verbose", NULL, OPTION_FLAG, TO(is_verbose),
     "list the mappings, comments for programs, and all points of the timeline", NULL},
    {0},
};

static void print_sizes(const struct profile *profile, unsigned columns, enum chart_style style)
{
    struct size_histogram histogram;
    const char *text = machine_comment(profile, SIZE_HISTOGRAM_KEY);
    if (text == NULL || text[0] == '\0')
        return;
    puts("\nsizes of what was allocated");
    if (size_histogram_parse(text, &histogram))
        size_picture_print(&histogram, columns, style, stdout);
    else
        puts("  damaged: cannot be read");
}

static void print_timeline(const struct profile *profile, unsigned columns, enum chart_style style,
                           bool is_verbose)
{
    const char *text = machine_comment(profile, TIMELINE_KEY);
    if (text == NULL)
        return;
    struct timeline *timeline = heap_alloc(sizeof(*timeline));
    bool is_good = timeline_parse(text, timeline);
    if (!is_good || timeline->count > 0)
        puts("\nmemory over time");
    if (!is_good)
        puts("  damaged: cannot be read");
    else if (timeline->count > 0 && isatty(STDOUT_FILENO) && !is_verbose)
        timeline_picture_print(timeline, columns, style, stdout);
    else if (timeline->count > 0)
        timeline_table_print(timeline, is_verbose ? 0 : TABLE_LINES, columns, style, stdout);
    free(timeline);
}

static int info_run(const struct command *command, int argc, char **argv)
{
    struct error error = {0};
    struct info_options options = {0};
    const char *path;
    int type_index, status;
    if (!report_input_arguments(command, argc, argv, &options, &path, &status))
        return status;
    struct profile *profile = report_input_read(path, NULL, &type_index, &error);
    if (profile == NULL)
        return command_fail(STATUS_FAILED, &error);
    unsigned columns = terminal_columns(STDOUT_FILENO);
    enum chart_style style = chart_style_of_locale();
    profile_facts_print(profile, path, options.is_verbose, stdout);
    print_sizes(profile, columns, style);
    print_timeline(profile, columns, style, options.is_verbose);
    profile_free(profile);
    return STATUS_OK;
}

const struct command info_command = {
    .name = "info",
    .operands = "FILE",
    .summary = "show what a profile says about itself",
    .details = "Memory over time is a picture on a terminal, and a table elsewhere.",
    .rows = info_rows,
    .run = info_run,
};
