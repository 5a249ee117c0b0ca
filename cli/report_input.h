/* report_input.h: what every report begins with: a profile from a file, and one of its values. */
#ifndef HEAPPROF_CLI_REPORT_INPUT_H
#define HEAPPROF_CLI_REPORT_INPUT_H

#include <stdbool.h>

struct command;
struct error;
struct profile;

/* Parses the arguments of a command that takes one profile: its options into *options, as
 * option_parse does, and the file's name into *path. False when there is nothing more to do:
 * *status is what the command returns then, and what was wrong has been told. */
bool report_input_arguments(const struct command *command, int argc, char **argv, void *options,
                            const char **path, int *status);

/* Reads the profile at path ("-" is stdin), with progress on a terminal, and finds the sample type
 * called sample_type (NULL for the profile's default); *type_index is then valid in it. NULL with
 * *error naming path and the reason. The caller frees with profile_free. */
struct profile *report_input_read(const char *path, const char *sample_type, int *type_index,
                                  struct error *error);

#endif
