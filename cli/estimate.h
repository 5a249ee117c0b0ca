/* estimate.h: an estimate and how far it may be off, as text: "12.50MB ± 0.99MB". */
#ifndef HEAPPROF_CLI_ESTIMATE_H
#define HEAPPROF_CLI_ESTIMATE_H

#include "cli/quantity.h"

/* Room for any text made here, its NUL included. */
#define ESTIMATE_TEXT_SIZE (2 * QUANTITY_TEXT_SIZE + 8)

/* value, in unit, with two standard errors behind it, in the unit that value is shown in. variance
 * is that of the estimate, in unit squared; where the errors are less than a half there is nothing
 * behind the value. Returns text. */
char *estimate_text(int64_t value, const char *unit, double variance,
                    char text[ESTIMATE_TEXT_SIZE]);

#endif
