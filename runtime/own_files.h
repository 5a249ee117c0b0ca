/* own_files.h: where this library was loaded from, and the main program's module. */
#ifndef HEAPPROF_RUNTIME_OWN_FILES_H
#define HEAPPROF_RUNTIME_OWN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dl_find_object;

/* The path this library was preloaded by, as in LD_PRELOAD; "" when it is not known. */
const char *own_files_library(void);

/* The path of name beside this library, links in its own path followed, in out[0..capacity). False
 * when that does not exist. Constructor only. */
bool own_files_beside(const char *name, char *out, size_t capacity);

/* Hands the main program's object to note, so that it is the first module. */
void own_files_note_main(void (*note)(uintptr_t pc, const struct dl_find_object *object));

#endif
