/* collector_format.h: the formats that a run writes. */
#ifndef HEAPPROF_CLI_COLLECTOR_FORMAT_H
#define HEAPPROF_CLI_COLLECTOR_FORMAT_H

#include <stdbool.h>
#include <stdio.h>

struct error;
struct profile;

/* Names as --format takes them, NULL-terminated: "pprof", "folded", "svg". */
extern const char *const format_names[];

/* The suffix of a format's files, with the dot; name is one of format_names, NULL stands for
 * "pprof". Static. */
const char *format_suffix(const char *name);

/* Writes profile to stream in the format called name (NULL: "pprof"). False with *error. */
bool format_write(const char *name, const struct profile *profile, FILE *stream,
                  struct error *error);

#endif
