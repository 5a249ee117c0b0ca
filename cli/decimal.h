/* decimal.h: decimal numbers in text that comes from a file. */
#ifndef HEAPPROF_CLI_DECIMAL_H
#define HEAPPROF_CLI_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the digits at *text, at least one, as a number up to UINT64_MAX, and sets *text behind
 * them. False, with *text and *number as they were, for anything else: a sign, a space, a number
 * too large. Whoever calls looks at what follows. */
bool decimal_read(const char **text, uint64_t *number);

#endif
