/* output_file.h: a file that appears whole or not at all.
 *
 * What is written goes to a temporary file in the folder of the final one and takes its name when
 * it is committed, so that nobody ever reads half a profile and an older file survives a failure.
 * Only regular files and names that do not exist yet are replaced so; "-", /dev/stdout and its
 * like, devices and FIFOs are written straight. A symbolic link is followed: its target is
 * replaced, the link stays. Not thread-safe. */
#ifndef HEAPPROF_CLI_OUTPUT_FILE_H
#define HEAPPROF_CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct error;
struct output_file;

/* Opens path for writing; "-" is standard output. A new file's mode is 0666 less the umask. NULL
 * with *error (which names path) when it cannot be written. Ends with output_commit or
 * output_discard. */
struct output_file *output_open(const char *path, struct error *error);
/* The same with a relative path taken from the folder that descriptor refers to (O_PATH is
 * enough), AT_FDCWD for the current one. */
struct output_file *output_open_at(int folder, const char *path, struct error *error);

/* Where to write; owned by the output, not to be closed. */
FILE *output_stream(struct output_file *output);

/* Writes out what is buffered and gives the file its name. False with *error when anything failed
 * since output_open (disk full, for instance): then a file of that name is as it was before.
 * Frees output in any case. */
bool output_commit(struct output_file *output, struct error *error);

/* Forgets what was written; frees output. NULL is accepted. */
void output_discard(struct output_file *output);

/* Tries what output_open_at and output_commit will need, leaving nothing behind and touching no
 * existing file: the folder takes new files, path is no directory, a device may be written. */
bool output_probe(int folder, const char *path, struct error *error);

/* True when path is one of those that are written straight: such a path holds one profile only. */
bool output_is_straight(int folder, const char *path);

#endif
