/* loader.h: what the dynamic loader would load, asked of the loader itself.
 *
 * It alone knows its search path (LD_LIBRARY_PATH, /etc/ld.so.cache, the folders of this system
 * and processor) and what a library needs. It is run to list, which maps files and runs no code of
 * theirs, in a process of its own. */
#ifndef HEAPPROF_CLI_LOADER_H
#define HEAPPROF_CLI_LOADER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* The file that the loader takes for a library's name ("libfoo.so.1", without '/'); absolute, links
 * followed. False when there is none, or the loader cannot be run. */
bool loader_find(const char *name, char path[PATH_MAX]);

/* Whether the shared object at path can be loaded with all that it needs; else reason says what is
 * wrong ("needs libbar.so.2, which is not there"), cut to size. True also when the loader cannot be
 * run. */
bool loader_accepts(const char *path, char *reason, size_t size);

#endif
