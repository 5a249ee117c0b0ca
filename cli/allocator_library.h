/* allocator_library.h: whether a file can be the allocator behind the runtime library. */
#ifndef HEAPPROF_CLI_ALLOCATOR_LIBRARY_H
#define HEAPPROF_CLI_ALLOCATOR_LIBRARY_H

#include <stdbool.h>

struct error;

/* True for an x86-64 shared object that exports malloc, calloc, realloc and free and has all that
 * it needs. False with *error, which names path and says why not. Runs none of its code. */
bool allocator_library_check(const char *path, struct error *error);

#endif
