/* standard_error.h: how far an estimate may be from the truth, for people.
 *
 * Two standard errors are what is shown everywhere: in 19 of 20 cases the truth is within them, as
 * far as the number of samples is not small. */
#ifndef HEAPPROF_CLI_STANDARD_ERROR_H
#define HEAPPROF_CLI_STANDARD_ERROR_H

#include "cli/quantity.h"

/* With fewer samples than that behind a figure, its error is a lower bound: they tell little about
 * how different samples may be. */
enum { STANDARD_ERROR_ENOUGH_SAMPLES = 10 };

/* Two standard errors of an estimate with this variance, in the estimate's unit; 0 where variance
 * is not above 0. Pure. */
double standard_error_twice(double variance);

/* The same as text, for a value given in unit and shown in the unit to (as of quantity_text_in); in
 * the unit that suits it where it would be 0 in that one. Cut at INT64_MAX. Returns text. */
char *standard_error_text(double variance, const char *unit, const char *to,
                          char text[QUANTITY_TEXT_SIZE]);

#endif
