/* source_path.h: paths of files as reports show them.
 *
 * Paths come from profiles, that is from other machines: nothing here looks at the file system.
 * The results are those of Go's filepath.Base and filepath.Clean on Unix. */
#ifndef HEAPPROF_CLI_SOURCE_PATH_H
#define HEAPPROF_CLI_SOURCE_PATH_H

#include <stddef.h>

/* The last part of path: "c.so" of "/a/b/c.so" and of "/a/b/c.so/", "/" of "//", "." of "".
 * *length is its length; the result points into path or to a constant and is not ended by a NUL. */
const char *source_path_base(const char *path, size_t *length);

/* path without the prefix "/proc/self/cwd/" (or "/proc/self/cwd/./") that build systems with
 * sandboxes leave in debug information. Points into path. */
const char *source_path_trim(const char *path);

/* The shortest path that means the same as path: without "//", "/./", "x/../"; "." for "".
 * clean has room for strlen(path) + 2 bytes. Returns clean. */
char *source_path_clean(const char *path, char *clean);

#endif
