/* report_input.h: what every report begins with: a profile from a file, and one of its values. */
#ifndef HEAPPROF_CLI_REPORT_INPUT_H
#define HEAPPROF_CLI_REPORT_INPUT_H

struct error;
struct profile;

/* Reads the profile at path ("-" is stdin), with progress on a terminal, and finds the sample type
 * called sample_type (NULL for the profile's default); *type_index is then valid in it. NULL with
 * *error naming path and the reason. The caller frees with profile_free. */
struct profile *report_input_read(const char *path, const char *sample_type, int *type_index,
                                  struct error *error);

#endif
