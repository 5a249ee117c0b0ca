/* collector_output.h: finished files get their place, or another one when that fails. */
#ifndef HEAPPROF_CLI_COLLECTOR_OUTPUT_H
#define HEAPPROF_CLI_COLLECTOR_OUTPUT_H

#include <stdbool.h>

struct error;

/* Gives the whole of source (from its present position on) the name path, relative to the folder
 * descriptor. Where that fails the file goes to a new folder under $TMPDIR or /tmp; *place is the
 * path that it really has (the caller frees), *error says then why it is another one. False, with
 * *place NULL, when it could be written nowhere. */
bool output_deliver(int folder, const char *path, int source, char **place, struct error *error);

#endif
