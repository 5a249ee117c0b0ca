/* pprof.h: pprof files (gzip or raw profile.proto) to and from the profile model.
 *
 * The rules are those of google/pprof proto/README.md and profile/profile.go (CheckValid). Readers
 * take any bytes at all and never crash; writers give the same bytes for the same profile. */
#ifndef HEAPPROF_PROTO_PPROF_H
#define HEAPPROF_PROTO_PPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct profile;

/* Reads the file at path ("-" is stdin). NULL, with *error naming path and the reason, for
 * anything that is not a valid profile: missing, a directory, empty, truncated gzip, corrupt
 * protobuf, an index out of range, more than 2 GiB or a gzip bomb (more than 256 MiB and more than
 * 100 times the file). Formats of other profilers are named, not read. Functions that are equal are
 * one in the profile, whatever ids the file gives them. The caller frees with profile_free. */
struct profile *pprof_read_file(const char *path, struct error *error);

/* The same from memory; name stands in *error for the file. */
struct profile *pprof_decode(const uint8_t *bytes, size_t size, const char *name,
                             struct error *error);

/* The gzip'ed profile in *bytes (malloc'ed, the caller frees) and *size. Samples whose values are
 * all zero are left out. False only when zlib fails. */
bool pprof_encode(const struct profile *profile, uint8_t **bytes, size_t *size,
                  struct error *error);

#endif
