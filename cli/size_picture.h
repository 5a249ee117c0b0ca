/* size_picture.h: a histogram of allocation sizes as a table with bars. */
#ifndef HEAPPROF_CLI_SIZE_PICTURE_H
#define HEAPPROF_CLI_SIZE_PICTURE_H

#include <stdio.h>

#include "cli/text_chart.h"

struct size_histogram;

/* Prints a row for each class from the first to the last that is not empty, columns wide (at least
 * as wide as its numbers). Errors stay in stream. */
void size_picture_print(const struct size_histogram *histogram, unsigned columns,
                        enum chart_style style, FILE *stream);

#endif
