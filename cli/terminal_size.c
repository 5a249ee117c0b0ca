/* terminal_size.c: how wide a terminal is. Source of $COLUMNS: POSIX, XBD 8.3. */
#include "cli/terminal_size.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/decimal.h"

enum { COLUMNS_DEFAULT = 80, COLUMNS_MOST = 10000 };

unsigned terminal_columns(int descriptor)
{
    const char *text = getenv("COLUMNS");
    struct winsize size;
    uint64_t columns = 0;
    if (!isatty(descriptor))
        return COLUMNS_DEFAULT;
    if (text == NULL || !decimal_read(&text, &columns) || *text != '\0')
        columns = 0;
    if (columns == 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    if (columns == 0)
        return COLUMNS_DEFAULT;
    return columns < COLUMNS_MOST ? (unsigned)columns : COLUMNS_MOST;
}
