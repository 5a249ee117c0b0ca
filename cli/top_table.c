/* top_table.c: the table of heapprof top: its columns and its rows.
 *
 * A view is a table of columns: what is in a cell, and of which sums. Columns are right-aligned,
 * one blank apart; pprof's keep their width, whatever is in them, others are as wide as they must
 * be. */
#include "cli/top_table.h"

#include "cli/quantity.h"
#include "cli/terminal_text.h"
#include "cli/top_page.h"
#include "cli/wrapping.h"
#include "proto/profile.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A cell's content into text. */
struct cell {
    const struct top_page *page;
    int64_t figure; /* of the side that the column is about */
    const struct report_sums *sums;
    int64_t sum; /* of the flat figures down to this row */
};

typedef char *cell_text(const struct cell *cell, char text[QUANTITY_TEXT_SIZE]);

enum side { FLAT, CUM };

enum column_kind {
    FIXED, /* its width stays, whatever is in it */
    GROWS, /* to what is in it */
    ERRORS /* likewise, and shown with errors only */
};

struct top_column {
    const char *heading;
    cell_text *text;
    enum side side;
    int width; /* at least */
    enum column_kind kind;
};

static char *value_text(const struct cell *cell, char text[QUANTITY_TEXT_SIZE])
{
    return top_page_value(cell->page, cell->figure, text);
}

static char *error_text(const struct cell *cell, char text[QUANTITY_TEXT_SIZE])
{
    return top_page_error(cell->page, cell->sums, text);
}

static char *percent_text(const struct cell *cell, char text[QUANTITY_TEXT_SIZE])
{
    return quantity_percent(cell->figure, cell->page->report->total, text);
}

static char *sum_text(const struct cell *cell, char text[QUANTITY_TEXT_SIZE])
{
    return quantity_percent(cell->sum, cell->page->report->total, text);
}

static char *objects_text(const struct cell *cell, char text[QUANTITY_TEXT_SIZE])
{
    return quantity_text(cell->sums->objects, "count", text);
}

static char *freed_text(const struct cell *cell, char text[QUANTITY_TEXT_SIZE])
{
    return quantity_text(report_sums_rounded(cell->sums->extra.freed_objects), "count", text);
}

/* part of whole, both never negative. Rounding cannot make it more than all. */
static char *share_text(double part, double whole, char text[QUANTITY_TEXT_SIZE])
{
    int64_t of = report_sums_rounded(whole);
    int64_t value = report_sums_rounded(part);
    return quantity_percent(value < of ? value : of, of, text);
}

static char *temporary_share_text(const struct cell *cell, char text[QUANTITY_TEXT_SIZE])
{
    return share_text(cell->sums->extra.temporary_objects, (double)cell->sums->value, text);
}

static char *foreign_share_text(const struct cell *cell, char text[QUANTITY_TEXT_SIZE])
{
    return share_text(cell->sums->extra.foreign_objects, cell->sums->extra.freed_objects, text);
}

/* A time, of which there is none where nothing was counted. */
static char *time_text(int64_t nanoseconds, bool any, char text[QUANTITY_TEXT_SIZE])
{
    return any ? quantity_text(nanoseconds, "nanoseconds", text) : strcpy(text, "-");
}

static char *mean_lifetime_text(const struct cell *cell, char text[QUANTITY_TEXT_SIZE])
{
    return time_text(report_sums_mean_lifetime(cell->sums), cell->sums->extra.freed_objects > 0,
                     text);
}

static char *shortest_lifetime_text(const struct cell *cell, char text[QUANTITY_TEXT_SIZE])
{
    return time_text(cell->sums->extra.lifetime_min, cell->sums->extra.freed_objects > 0, text);
}

static char *longest_lifetime_text(const struct cell *cell, char text[QUANTITY_TEXT_SIZE])
{
    return time_text(cell->sums->extra.lifetime_max, cell->sums->extra.freed_objects > 0, text);
}

static char *mean_age_text(const struct cell *cell, char text[QUANTITY_TEXT_SIZE])
{
    return time_text(report_sums_mean_age(cell->sums), cell->sums->value > 0, text);
}

/* clang-format off: a column a line */
static const struct top_column value_columns[] = {
    {"flat", value_text, FLAT, 10, FIXED},   {"\u00b1", error_text, FLAT, 7, ERRORS},
    {"flat%", percent_text, FLAT, 6, FIXED}, {"sum%", sum_text, FLAT, 6, FIXED},
    {"cum", value_text, CUM, 10, FIXED},     {"\u00b1", error_text, CUM, 7, ERRORS},
    {"cum%", percent_text, CUM, 6, FIXED},   {0},
};

/* Lifetimes are those of what rows are sorted by: sorted by cum, of wrappers' callers too. */
#define LIFETIME_COLUMNS(side)                                                                     \
    {"temp%", temporary_share_text, side, 6, FIXED}, {"freed", freed_text, side, 7, GROWS},        \
        {"mean", mean_lifetime_text, side, 7, GROWS},                                              \
        {"min", shortest_lifetime_text, side, 7, GROWS},                                           \
        {"max", longest_lifetime_text, side, 7, GROWS},                                            \
    {                                                                                              \
        "other%", foreign_share_text, side, 6, FIXED                                               \
    }

static const struct top_column temporary_columns[] = {
    {"flat", value_text, FLAT, 7, GROWS},
    LIFETIME_COLUMNS(FLAT),
    {"cum", value_text, CUM, 7, GROWS},
    {0},
};

static const struct top_column temporary_columns_by_cum[] = {
    {"cum", value_text, CUM, 7, GROWS},
    LIFETIME_COLUMNS(CUM),
    {"flat", value_text, FLAT, 7, GROWS},
    {0},
};

static const struct top_column age_columns[] = {
    {"flat", value_text, FLAT, 7, GROWS},
    {"flat%", percent_text, FLAT, 6, FIXED},
    {"objects", objects_text, FLAT, 7, GROWS},
    {"age", mean_age_text, FLAT, 7, GROWS},
    {"cum", value_text, CUM, 8, GROWS},
    {"cum%", percent_text, CUM, 6, FIXED},
    {"objects", objects_text, CUM, 7, GROWS},
    {"age", mean_age_text, CUM, 7, GROWS},
    {0},
};
/* clang-format on */

const struct top_view top_view_values = {
    .ranking = REPORT_BY_VALUE,
    .columns = value_columns,
    .columns_by_cum = value_columns,
};

const struct top_view top_view_temporary = {
    .sample_type = "alloc_objects",
    .ranking = REPORT_BY_TEMPORARY,
    .columns = temporary_columns,
    .columns_by_cum = temporary_columns_by_cum,
};

const struct top_view top_view_age = {
    .sample_type = "inuse_space",
    .objects_type = "inuse_objects",
    .ranking = REPORT_BY_AGE,
    .columns = age_columns,
    .columns_by_cum = age_columns,
};

static const char *column_text(const struct top_page *page, const struct top_column *column,
                               const struct report_row *row, int64_t sum,
                               char text[QUANTITY_TEXT_SIZE])
{
    struct cell cell = {
        .page = page,
        .figure = column->side == FLAT ? row->flat : row->cum,
        .sums = column->side == FLAT ? &row->node->flat : &row->node->cum,
        .sum = sum,
    };
    column->text(&cell, text);
    return text;
}

static bool is_shown(const struct top_page *page, const struct top_column *column)
{
    return page->shows_errors || column->kind != ERRORS;
}

/* Characters of text, each one column wide. */
static int character_count(const char *text)
{
    int count = 0;
    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

static int column_width(const struct top_page *page, const struct top_column *column)
{
    char text[QUANTITY_TEXT_SIZE];
    int width = column->width;
    for (size_t i = 0; column->kind != FIXED && i < page->report->row_count; i++) {
        int count = character_count(column_text(page, column, &page->report->rows[i], 0, text));
        width = count > width ? count : width;
    }
    return width;
}

/* The unit in a text is the profile's, and may hold anything. */
static void print_aligned(const char *text, int width, bool is_first)
{
    int blanks = width - character_count(text);
    printf("%s%*s", is_first ? "" : " ", blanks > 0 ? blanks : 0, "");
    terminal_text_write(text, stdout);
}

enum { MOST_COLUMNS = 16 };

static void print_heading(const struct top_page *page, const struct top_column *columns,
                          const int *widths)
{
    for (size_t i = 0; columns[i].heading != NULL; i++)
        if (is_shown(page, &columns[i]))
            print_aligned(columns[i].heading, widths[i], i == 0);
    putchar('\n');
}

static void print_row(const struct top_page *page, const struct top_column *columns,
                      const int *widths, const struct report_row *row, int64_t sum)
{
    static const char *const labels[] = {
        [REPORT_NOT_INLINED] = "",
        [REPORT_INLINED] = " (inline)",
        [REPORT_PARTLY_INLINED] = " (partial-inline)",
    };
    char text[QUANTITY_TEXT_SIZE];
    for (size_t i = 0; columns[i].heading != NULL; i++)
        if (is_shown(page, &columns[i]))
            print_aligned(column_text(page, &columns[i], row, sum, text), widths[i], i == 0);
    fputs("  ", stdout);
    terminal_text_write(row->title, stdout);
    puts(labels[row->inlining]);
}

void top_table_print(const struct top_page *page)
{
    const struct report *report = page->report;
    const struct top_column *columns =
        page->by_cum ? page->view->columns_by_cum : page->view->columns;
    int widths[MOST_COLUMNS];
    int64_t sum = 0;
    for (size_t i = 0; columns[i].heading != NULL; i++)
        widths[i] = column_width(page, &columns[i]);
    print_heading(page, columns, widths);
    for (size_t i = 0; i < report->row_count; i++) {
        sum = wrapping_add(sum, report->rows[i].flat);
        print_row(page, columns, widths, &report->rows[i], sum);
    }
}
