/* estimate.c: an estimate and how far it may be off, as text. */
#include "cli/estimate.h"

#include <stdbool.h>
#include <stdio.h>

#include "cli/standard_error.h"

char *estimate_text(const struct estimate *estimate, const char *unit,
                    char text[ESTIMATE_TEXT_SIZE])
{
    char number[QUANTITY_TEXT_SIZE], error[QUANTITY_TEXT_SIZE];
    const char *shown;
    bool is_bound = estimate->samples > 0 && estimate->samples < STANDARD_ERROR_ENOUGH_SAMPLES;
    quantity_text(estimate->value, unit, number);
    quantity_scale(estimate->value, unit, "auto", &shown);
    if (standard_error_twice(estimate->variance) < 0.5)
        snprintf(text, ESTIMATE_TEXT_SIZE, "%s", number);
    else
        snprintf(text, ESTIMATE_TEXT_SIZE, "%s \u00b1 %s%s", number,
                 standard_error_text(estimate->variance, unit, shown, error),
                 is_bound ? " or more" : "");
    return text;
}
