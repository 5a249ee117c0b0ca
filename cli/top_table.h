/* top_table.h: the table of heapprof top: its columns and its rows. */
#ifndef HEAPPROF_CLI_TOP_TABLE_H
#define HEAPPROF_CLI_TOP_TABLE_H

#include "cli/report.h"

struct top_column;
struct top_page;

/* One of the tables that there are. */
struct top_view {
    const char *sample_type;  /* what it is about; NULL: as the user says */
    const char *objects_type; /* that counts its objects; NULL: not shown */
    enum report_ranking ranking;
    const struct top_column *columns, *columns_by_cum;
};

extern const struct top_view top_view_values;    /* flat and cum, as pprof has it */
extern const struct top_view top_view_temporary; /* objects that are freed soon, and lifetimes */
extern const struct top_view top_view_age;       /* what is in use, and since when */

/* Prints column names and rows of the page's report. */
void top_table_print(const struct top_page *page);

#endif
