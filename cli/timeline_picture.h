/* timeline_picture.h: a timeline as a picture over time, and as a table. */
#ifndef HEAPPROF_CLI_TIMELINE_PICTURE_H
#define HEAPPROF_CLI_TIMELINE_PICTURE_H

#include <stddef.h>
#include <stdio.h>

#include "cli/text_chart.h"

struct timeline;

/* Prints what was in use, what was allocated a second and the RSS (where it is known) as three
 * pictures over the same time, columns wide. timeline is not empty. Errors stay in stream. */
void timeline_picture_print(const struct timeline *timeline, unsigned columns,
                            enum chart_style style, FILE *stream);

/* Prints the same as a table of at most rows lines, 0 for a line each point, with a bar for what
 * was in use. A line stands for all points since the line before: the most in use, the most RSS. */
void timeline_table_print(const struct timeline *timeline, size_t rows, unsigned columns,
                          enum chart_style style, FILE *stream);

#endif
