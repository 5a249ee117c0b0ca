/* decimal.c: decimal numbers in text that comes from a file. strtoull is of no use for them: it
 * skips spaces and takes signs, and says what was wrong by errno. */
#include "cli/decimal.h"

bool decimal_read(const char **text, uint64_t *number)
{
    const char *at = *text;
    uint64_t value = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
            return false;
    if (at == *text)
        return false;
    *text = at;
    *number = value;
    return true;
}
