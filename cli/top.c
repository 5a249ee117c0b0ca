/* top.c: heapprof top, where the memory goes, as text.
 *
 * What is printed, to the character, is what `go tool pprof -top` prints of the same file: header,
 * columns, units, cut-offs. Deliberate exceptions: control characters are shown escaped. The
 * figures come from report.c. Source: google/pprof internal/report/report.go. */
#include "cli/command.h"
#include "cli/option.h"
#include "cli/quantity.h"
#include "cli/report.h"
#include "cli/report_input.h"
#include "cli/source_path.h"
#include "cli/terminal_text.h"
#include "cli/wrapping.h"
#include "proto/arena.h"
#include "proto/error.h"
#include "proto/profile.h"
#include "proto/text_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEFAULT_NODE_COUNT 30
#define DEFAULT_NODE_FRACTION 0.005 /* pprof's */
#define VALUE_COLUMNS 10

struct top_options {
    const char *sample_type;
    uint64_t node_count;
    double node_fraction;
    bool cum;
    bool lines;
};

#define TO(field) offsetof(struct top_options, field)

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
    {0},
};

/* A report being printed, and the units that all its values are in. */
struct printer {
    const struct profile *profile;
    const struct report *report;
    const struct profile_value_type *type;
    const char *unit; /* common to all values shown */
    double node_fraction;
};

static char *value_text(const struct printer *printer, int64_t value, char text[QUANTITY_TEXT_SIZE])
{
    return quantity_text_in(value, printer->type->unit, printer->unit, text);
}

/* value right-aligned; the unit is the profile's, and may be any text. */
static void print_value(const struct printer *printer, int64_t value)
{
    char text[QUANTITY_TEXT_SIZE];
    size_t columns = 0;
    value_text(printer, value, text);
    for (const char *byte = text; *byte != '\0'; byte++)
        columns += ((unsigned char)*byte & 0xc0) != 0x80;
    for (; columns < VALUE_COLUMNS; columns++)
        putchar(' ');
    terminal_text_write(text, stdout);
}

static void print_percent(const struct printer *printer, int64_t value)
{
    char text[QUANTITY_TEXT_SIZE];
    printf(" %s", quantity_percent(value, printer->report->total, text));
}

static void print_binary(const struct printer *printer)
{
    const char *file = printer->report->file;
    if (file[0] != '\0') {
        size_t length;
        const char *base = source_path_base(file, &length);
        char *name = heap_alloc(length + 1);
        memcpy(name, base, length);
        name[length] = '\0';
        fputs("File: ", stdout);
        terminal_text_write(name, stdout);
        putchar('\n');
        free(name);
    }
    if (printer->profile->mapping_count > 0 && printer->profile->mappings[0]->build_id[0] != '\0') {
        fputs("Build ID: ", stdout);
        terminal_text_write(printer->profile->mappings[0]->build_id, stdout);
        putchar('\n');
    }
}

/* Each comment once. Those that begin with '#' are for machines. */
static void print_comments(const struct profile *profile)
{
    struct arena *arena = arena_new();
    struct text_table seen;
    bool seen_empty = false;
    text_table_init(&seen, arena);
    for (uint32_t i = 0; i < profile->comment_count; i++) {
        const char *comment = profile->comments[i];
        size_t count = seen.count;
        text_table_add(&seen, comment, strlen(comment));
        bool is_new = seen.count > count || (comment[0] == '\0' && !seen_empty);
        seen_empty = seen_empty || comment[0] == '\0';
        if (!is_new || comment[0] == '#')
            continue;
        terminal_text_write_lines(comment, stdout);
        putchar('\n');
    }
    text_table_done(&seen);
    arena_free(arena);
}

/* "Time: Jan 2, 2006 at 3:04pm (MST)", in local time. */
static void print_time(int64_t nanoseconds)
{
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t seconds = (time_t)(nanoseconds / 1000000000 - (nanoseconds % 1000000000 < 0));
    struct tm local;
    if (localtime_r(&seconds, &local) == NULL)
        return;
    int hour = local.tm_hour % 12 == 0 ? 12 : local.tm_hour % 12;
    printf("Time: %s %d, %d at %d:%02d%s (%s)\n", months[local.tm_mon], local.tm_mday,
           local.tm_year + 1900, hour, local.tm_min, local.tm_hour < 12 ? "am" : "pm",
           local.tm_zone);
}

/* Where values are times, with the part of the duration that they make up. */
static void print_duration(const struct printer *printer)
{
    char text[QUANTITY_TEXT_SIZE];
    const char *unit;
    int64_t duration = printer->profile->duration_nanos;
    double total =
        quantity_scale(printer->report->total, printer->type->unit, "nanoseconds", &unit);
    printf("Duration: %s, Total samples = ", quantity_text(duration, "nanoseconds", text));
    terminal_text_write(value_text(printer, printer->report->total, text), stdout);
    putchar(' ');
    if (strcmp(unit, "ns") == 0 && total != 0)
        printf("(%s)", quantity_percent(wrapping_truncate(total), duration, text));
    putchar('\n');
}

/* "7.25%" of a text padded on the left. */
static const char *trim_left(const char *text)
{
    return text + strspn(text, " ");
}

static void print_summary(const struct printer *printer)
{
    const struct report *report = printer->report;
    char text[QUANTITY_TEXT_SIZE];
    int64_t shown = 0;
    for (size_t i = 0; i < report->row_count; i++)
        shown = wrapping_add(shown, report->rows[i].flat);
    fputs("Showing nodes accounting for ", stdout);
    terminal_text_write(value_text(printer, shown, text), stdout);
    printf(", %s of ", trim_left(quantity_percent(shown, report->total, text)));
    terminal_text_write(value_text(printer, report->total, text), stdout);
    fputs(" total\n", stdout);
    if (report->total == 0)
        return;
    if (report->dropped_count > 0) {
        int64_t limit = wrapping_abs(wrapping_fraction(report->total, printer->node_fraction));
        printf("Dropped %zu node%s (cum <= ", report->dropped_count,
               report->dropped_count > 1 ? "s" : "");
        terminal_text_write(value_text(printer, limit, text), stdout);
        fputs(")\n", stdout);
    }
    if (report->row_count > 0 && report->row_count < report->kept_count)
        printf("Showing top %zu nodes out of %zu\n", report->row_count, report->kept_count);
}

static void print_header(const struct printer *printer)
{
    print_binary(printer);
    print_comments(printer->profile);
    if (printer->type->type[0] != '\0') {
        fputs("Type: ", stdout);
        terminal_text_write(printer->type->type, stdout);
        putchar('\n');
    }
    if (printer->profile->time_nanos != 0)
        print_time(printer->profile->time_nanos);
    if (printer->profile->duration_nanos != 0)
        print_duration(printer);
    print_summary(printer);
}

static void print_rows(const struct printer *printer)
{
    static const char *const labels[] = {
        [REPORT_NOT_INLINED] = "",
        [REPORT_INLINED] = " (inline)",
        [REPORT_PARTLY_INLINED] = " (partial-inline)",
    };
    int64_t sum = 0;
    puts("      flat  flat%   sum%        cum   cum%");
    for (size_t i = 0; i < printer->report->row_count; i++) {
        const struct report_row *row = &printer->report->rows[i];
        sum = wrapping_add(sum, row->flat);
        print_value(printer, row->flat);
        print_percent(printer, row->flat);
        print_percent(printer, sum);
        putchar(' ');
        print_value(printer, row->cum);
        print_percent(printer, row->cum);
        fputs("  ", stdout);
        terminal_text_write(row->title, stdout);
        puts(labels[row->inlining]);
    }
}

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

static void print_report(const struct profile *profile, int type_index,
                         const struct top_options *options)
{
    struct report report;
    struct report_options report_options = {
        .sample_type_index = type_index,
        .by_lines = options->lines,
        .by_cum = options->cum,
        .node_count = options->node_count,
        .node_fraction = options->node_fraction,
    };
    report_init(&report, profile, &report_options);
    const struct profile_value_type *type = &profile->sample_types[type_index];
    struct printer printer = {
        .profile = profile,
        .report = &report,
        .type = type,
        .unit = choose_unit(&report, type->unit),
        .node_fraction = options->node_fraction,
    };
    print_header(&printer);
    print_rows(&printer);
    report_done(&report);
}

static int top_run(const struct command *command, int argc, char **argv)
{
    struct error error = {0};
    struct top_options options = {
        .node_count = DEFAULT_NODE_COUNT,
        .node_fraction = DEFAULT_NODE_FRACTION,
    };
    const char *path;
    int type_index, status;
    if (!report_input_arguments(command, argc, argv, &options, &path, &status))
        return status;
    struct profile *profile = report_input_read(path, options.sample_type, &type_index, &error);
    if (profile == NULL)
        return command_fail(STATUS_FAILED, &error);
    print_report(profile, type_index, &options);
    profile_free(profile);
    return STATUS_OK;
}

const struct command top_command = {
    .name = "top",
    .operands = "FILE",
    .summary = "show where the memory goes, as a table",
    .details = "flat is what a function itself accounts for, cum what it and all it called do;\n"
               "sum% adds up flat%. The figures are those of `go tool pprof -top`.",
    .rows = top_rows,
    .run = top_run,
};
