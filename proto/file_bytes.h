/* file_bytes.h: all bytes of a file, pipe or standard input. */
#ifndef HEAPPROF_PROTO_FILE_BYTES_H
#define HEAPPROF_PROTO_FILE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/* Reads path ("-": standard input) to its end into *bytes (malloc'ed, the caller frees) and *size,
 * which is never 0. Waits for the writer of a FIFO. False, with *error naming path and the reason
 * and nothing to free: missing, not allowed, a directory, empty, or more than limit bytes. */
bool file_bytes_read(const char *path, size_t limit, uint8_t **bytes, size_t *size,
                     struct error *error);

/* The same where nothing is a file like any other: *size may be 0, and *bytes is freed then too. */
bool file_bytes_read_any(const char *path, size_t limit, uint8_t **bytes, size_t *size,
                         struct error *error);

#endif
