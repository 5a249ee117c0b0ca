/* counted.c: the bytes that a program asked for, counted, beside what the samples say of them. */
#include "cli/counted.h"

#include <math.h>
#include <stdio.h>

#include "cli/saturating.h"
#include "cli/standard_error.h"

char *counted_text(const struct counted *counted, char text[COUNTED_TEXT_SIZE])
{
    char bytes[QUANTITY_TEXT_SIZE], rest[QUANTITY_TEXT_SIZE];
    double rate = (double)counted->rate, threads = (double)counted->threads;
    double missing = threads * rate;
    double truth = (double)counted->bytes + missing;
    double estimate = (double)counted->estimate + (double)counted->lost;
    double off = truth > 0 ? fabs(estimate - truth) / truth * 100 : 0;
    double expected =
        truth > 0 ? standard_error_twice(counted->variance + threads * rate * rate) / truth * 100
                  : 0;
    quantity_text(saturating_signed(counted->bytes), "bytes", bytes);
    if (counted->threads != 0)
        quantity_text(missing < 0x1p62 ? (int64_t)missing : INT64_MAX, "bytes", rest);
    snprintf(text, COUNTED_TEXT_SIZE, "%s%s%s; allocated is %.2f%% off, up to %.2f%% was expected",
             bytes, counted->threads != 0 ? " and about " : "", counted->threads != 0 ? rest : "",
             off, expected);
    return text;
}
