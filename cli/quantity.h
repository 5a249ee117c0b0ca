/* quantity.h: values with units as people read them: "12.50MB", "1.20s", "35", " 7.25%".
 *
 * The rules are pprof's (google/pprof internal/measurement), so that numbers of our reports and of
 * `go tool pprof` can be compared by eye: bytes in steps of 1024 named B kB MB GB TB PB, times in
 * ns us ms s hrs, two decimals of which ".00" is left out, and a bare "0". Units that are not known
 * ("count", "samples", anything) are not scaled. Pure functions: no locale, any thread. */
#ifndef HEAPPROF_CLI_QUANTITY_H
#define HEAPPROF_CLI_QUANTITY_H

#include <stdint.h>

/* Room for any text made here, its NUL included. A longer unit is cut at a character. */
#define QUANTITY_TEXT_SIZE 128

/* value, given in the unit from, expressed in the unit to; *unit becomes the name to print behind
 * it, "" for counts. to "auto" picks the largest unit in which the value is at least 1. When to is
 * of another kind than from, the kind's base unit is used. *unit is static, or to itself. */
double quantity_scale(int64_t value, const char *from, const char *to, const char **unit);

/* value, given in unit ("bytes", "nanoseconds", "count"), in the unit that suits it best.
 * Returns text. */
char *quantity_text(int64_t value, const char *unit, char text[QUANTITY_TEXT_SIZE]);

/* As quantity_text, in the unit to (as given by quantity_common_unit). */
char *quantity_text_in(int64_t value, const char *unit, const char *to,
                       char text[QUANTITY_TEXT_SIZE]);

/* The one unit for a report whose smallest value shown (not 0) is smallest and whose total is
 * total, both not negative: the unit of the smallest, or of 100 times the smallest where the total
 * is far above and has another unit. smallest 0 stands for total. Static, or unit itself. */
const char *quantity_common_unit(int64_t smallest, int64_t total, const char *unit);

/* |value| / |total| as a percentage, at least 6 characters wide: " 7.25%", "  100%", "    0%";
 * two significant digits below 1. total 0 gives "    0%". Returns text. */
char *quantity_percent(int64_t value, int64_t total, char text[QUANTITY_TEXT_SIZE]);

#endif
