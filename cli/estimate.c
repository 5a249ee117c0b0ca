/* estimate.c: an estimate and how far it may be off, as text. */
#include "cli/estimate.h"

#include <emmintrin.h>
#include <stdio.h>

/* To be replaced by that of cli/standard_error.h, once it is there. */
static double standard_error_twice(double variance)
{
    if (!(variance > 0))
        return 0;
    __m128d operand = _mm_set_sd(variance);
    return 2 * _mm_cvtsd_f64(_mm_sqrt_sd(operand, operand));
}

char *estimate_text(int64_t value, const char *unit, double variance, char text[ESTIMATE_TEXT_SIZE])
{
    char number[QUANTITY_TEXT_SIZE], error[QUANTITY_TEXT_SIZE];
    const char *shown;
    double twice = standard_error_twice(variance) + 0.5;
    quantity_text(value, unit, number);
    quantity_scale(value, unit, "auto", &shown);
    if (twice >= 1 && twice < 0x1p63)
        snprintf(text, ESTIMATE_TEXT_SIZE, "%s \u00b1 %s", number,
                 quantity_text_in((int64_t)twice, unit, shown, error));
    else
        snprintf(text, ESTIMATE_TEXT_SIZE, "%s", number);
    return text;
}
