/* top_page.h: a report that heapprof top prints. */
#ifndef HEAPPROF_CLI_TOP_PAGE_H
#define HEAPPROF_CLI_TOP_PAGE_H

#include "cli/quantity.h"
#include "cli/report_errors.h"

#include <stdbool.h>
#include <stdint.h>

struct profile;
struct profile_value_type;
struct report;
struct report_sums;
struct top_view;

struct top_page {
    const struct profile *profile;
    const struct report *report;
    const struct profile_value_type *type;
    const struct top_view *view;
    const char *unit; /* common to all values shown */
    double node_fraction;
    bool by_cum;
    struct report_errors errors;
    bool shows_errors; /* then they are known */
    bool tells_missing_errors;
};

/* value in the page's unit. Returns text. */
char *top_page_value(const struct top_page *page, int64_t value, char text[QUANTITY_TEXT_SIZE]);

/* Two standard errors of sums->value in the page's unit, with '>' in front where that is a lower
 * bound. Returns text. */
char *top_page_error(const struct top_page *page, const struct report_sums *sums,
                     char text[QUANTITY_TEXT_SIZE]);

/* Prints all of it: what the profile is, what is shown of it, and the table (top_table.h). */
void top_page_print(const struct top_page *page);

#endif
