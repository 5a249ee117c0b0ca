/* top_page.c: a report that heapprof top prints: all that is above the table.
 *
 * To the character what `go tool pprof -top` prints, but for the lines on errors, and on what a
 * view of our own shows. Control characters are shown escaped. Source: google/pprof
 * internal/report/report.go. */
#include "cli/top_page.h"

#include "cli/machine_comments.h"
#include "cli/report.h"
#include "cli/source_path.h"
#include "cli/standard_error.h"
#include "cli/terminal_text.h"
#include "cli/top_table.h"
#include "cli/wrapping.h"
#include "proto/arena.h"
#include "proto/profile.h"
#include "proto/text_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What is a temporary object where the file does not say. */
#define TEMPORARY_THRESHOLD_NS 1000000

char *top_page_value(const struct top_page *page, int64_t value, char text[QUANTITY_TEXT_SIZE])
{
    return quantity_text_in(value, page->type->unit, page->unit, text);
}

char *top_page_error(const struct top_page *page, const struct report_sums *sums,
                     char text[QUANTITY_TEXT_SIZE])
{
    char error[QUANTITY_TEXT_SIZE];
    standard_error_text(report_errors_variance(&page->errors, sums), page->type->unit, page->unit,
                        error);
    bool is_bound = report_errors_is_bound(&page->errors, sums);
    snprintf(text, QUANTITY_TEXT_SIZE, "%s%.*s", is_bound ? ">" : "", QUANTITY_TEXT_SIZE - 2,
             error);
    return text;
}

static void print_binary(const struct top_page *page)
{
    const char *file = page->report->file;
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
    if (page->profile->mapping_count > 0 && page->profile->mappings[0]->build_id[0] != '\0') {
        fputs("Build ID: ", stdout);
        terminal_text_write(page->profile->mappings[0]->build_id, stdout);
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
static void print_duration(const struct top_page *page)
{
    char text[QUANTITY_TEXT_SIZE];
    const char *unit;
    int64_t duration = page->profile->duration_nanos;
    double total = quantity_scale(page->report->total, page->type->unit, "nanoseconds", &unit);
    printf("Duration: %s, Total samples = ", quantity_text(duration, "nanoseconds", text));
    terminal_text_write(top_page_value(page, page->report->total, text), stdout);
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

static void print_summary(const struct top_page *page)
{
    const struct report *report = page->report;
    char text[QUANTITY_TEXT_SIZE];
    int64_t shown = 0;
    for (size_t i = 0; i < report->row_count; i++)
        shown = wrapping_add(shown, report->rows[i].flat);
    fputs("Showing nodes accounting for ", stdout);
    terminal_text_write(top_page_value(page, shown, text), stdout);
    printf(", %s of ", trim_left(quantity_percent(shown, report->total, text)));
    terminal_text_write(top_page_value(page, report->total, text), stdout);
    fputs(" total\n", stdout);
    if (report->total == 0)
        return;
    if (report->dropped_count > 0) {
        int64_t limit = wrapping_abs(wrapping_fraction(report->total, page->node_fraction));
        printf("Dropped %zu node%s (cum <= ", report->dropped_count,
               report->dropped_count > 1 ? "s" : "");
        terminal_text_write(top_page_value(page, limit, text), stdout);
        fputs(")\n", stdout);
    }
    if (report->row_count > 0 && report->row_count < report->kept_count)
        printf("Showing top %zu nodes out of %zu\n", report->row_count, report->kept_count);
}

static bool any_is_bound(const struct top_page *page)
{
    if (report_errors_is_bound(&page->errors, &page->report->total_sums))
        return true;
    for (size_t i = 0; i < page->report->row_count; i++) {
        const struct report_node *node = page->report->rows[i].node;
        if (report_errors_is_bound(&page->errors, &node->flat) ||
            report_errors_is_bound(&page->errors, &node->cum))
            return true;
    }
    return false;
}

static void print_errors(const struct top_page *page)
{
    char text[QUANTITY_TEXT_SIZE];
    if (page->tells_missing_errors)
        printf("\u00b1 is not known: %s\n", page->errors.missing);
    if (!page->shows_errors)
        return;
    if (page->errors.is_exact) {
        puts("\u00b1 is 0: every allocation was recorded");
        return;
    }
    fputs("\u00b1 is two standard errors; of the total it is ", stdout);
    puts(top_page_error(page, &page->report->total_sums, text));
    if (any_is_bound(page))
        puts("> marks a lower bound: the figure rests on fewer than 10 samples");
}

static void print_type(const struct top_page *page)
{
    uint64_t threshold = TEMPORARY_THRESHOLD_NS;
    char text[QUANTITY_TEXT_SIZE];
    machine_comment_number(page->profile, "temporary_threshold_ns", &threshold);
    if (page->type->type[0] == '\0')
        return;
    fputs("Type: ", stdout);
    if (page->view->ranking == REPORT_BY_TEMPORARY) {
        quantity_text(threshold <= INT64_MAX ? (int64_t)threshold : INT64_MAX, "nanoseconds", text);
        printf("temporary objects, freed within %s", text);
    } else {
        terminal_text_write(page->type->type, stdout);
    }
    puts(page->view->ranking == REPORT_BY_AGE ? ", ranked by bytes times age" : "");
}

void top_page_print(const struct top_page *page)
{
    print_binary(page);
    print_comments(page->profile);
    print_type(page);
    if (page->profile->time_nanos != 0)
        print_time(page->profile->time_nanos);
    if (page->profile->duration_nanos != 0)
        print_duration(page);
    print_summary(page);
    print_errors(page);
    top_table_print(page);
}
