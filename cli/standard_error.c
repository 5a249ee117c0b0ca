/* standard_error.c: how far an estimate may be from the truth, for people.
 *
 * The root is the processor's own instruction, correctly rounded: the command needs no libm. */
#include "cli/standard_error.h"

#include <emmintrin.h>
#include <stdint.h>
#include <string.h>

double standard_error_twice(double variance)
{
    if (!(variance > 0))
        return 0;
    __m128d operand = _mm_set_sd(variance);
    return 2 * _mm_cvtsd_f64(_mm_sqrt_sd(operand, operand));
}

char *standard_error_text(double variance, const char *unit, const char *to,
                          char text[QUANTITY_TEXT_SIZE])
{
    double twice = standard_error_twice(variance) + 0.5;
    int64_t value = twice < 0x1p63 ? (int64_t)twice : INT64_MAX;
    quantity_text_in(value, unit, to, text);
    if (value > 0 && strcmp(text, "0") == 0)
        quantity_text(value, unit, text);
    return text;
}
