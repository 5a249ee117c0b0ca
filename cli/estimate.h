/* estimate.h: an estimate and how far it may be off, as text: "12.50MB ± 0.99MB". */
#ifndef HEAPPROF_CLI_ESTIMATE_H
#define HEAPPROF_CLI_ESTIMATE_H

#include <stdint.h>

#include "cli/quantity.h"

struct estimate {
    int64_t value;
    double variance; /* of the estimate, in its unit squared */
    int64_t samples; /* that it rests on; 0: not known */
};

/* Room for any text made here, its NUL included. */
#define ESTIMATE_TEXT_SIZE (2 * QUANTITY_TEXT_SIZE + 16)

/* The value, in unit, with two standard errors behind it, in the unit that value is shown in; with
 * " or more" where these are a lower bound (standard_error.h). Where they are less than a half
 * there is nothing behind the value. Returns text. */
char *estimate_text(const struct estimate *estimate, const char *unit,
                    char text[ESTIMATE_TEXT_SIZE]);

#endif
