/* estimate.c: an estimate and how far it may be off, as text. */
#include "cli/estimate.h"

#include <stdio.h>

#include "cli/standard_error.h"

char *estimate_text(int64_t value, const char *unit, double variance, char text[ESTIMATE_TEXT_SIZE])
{
    char number[QUANTITY_TEXT_SIZE], error[QUANTITY_TEXT_SIZE];
    const char *shown;
    quantity_text(value, unit, number);
    quantity_scale(value, unit, "auto", &shown);
    if (standard_error_twice(variance) < 0.5)
        snprintf(text, ESTIMATE_TEXT_SIZE, "%s", number);
    else
        snprintf(text, ESTIMATE_TEXT_SIZE, "%s \u00b1 %s", number,
                 standard_error_text(variance, unit, shown, error));
    return text;
}
