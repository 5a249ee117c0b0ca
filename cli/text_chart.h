/* text_chart.h: small pictures of numbers, in letters.
 *
 * Bars that lie and columns that stand, made of Unicode's block elements, an eighth of a letter
 * fine, or of '#' where the locale has no UTF-8. What is not 0 is never drawn as nothing. */
#ifndef HEAPPROF_CLI_TEXT_CHART_H
#define HEAPPROF_CLI_TEXT_CHART_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum chart_style { CHART_ASCII, CHART_BLOCKS };

/* What the environment's locale can show. */
enum chart_style chart_style_of_locale(void);

/* Draws a bar as long as value is of most (0 draws nothing), where most fills all columns. Returns
 * the columns that it takes, so that a caller can fill up. Errors stay in stream. */
unsigned chart_bar(uint64_t value, uint64_t most, unsigned columns, enum chart_style style,
                   FILE *stream);

/* Draws row (from the top, 0 to height - 1) of a picture of standing columns, one for each of
 * values[0..count), where most fills the whole height. No spaces at the end, no newline. */
void chart_columns_row(const uint64_t *values, size_t count, uint64_t most, unsigned row,
                       unsigned height, enum chart_style style, FILE *stream);

#endif
