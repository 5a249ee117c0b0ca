/* allocator_choice.h: what --allocator says: which allocator the command runs on. */
#ifndef HEAPPROF_CLI_ALLOCATOR_CHOICE_H
#define HEAPPROF_CLI_ALLOCATOR_CHOICE_H

#include <limits.h>
#include <stdbool.h>

struct error;

struct allocator_choice {
    const char *name;       /* as in the table; NULL when the user gave a path */
    bool is_private;        /* the runtime's own mimalloc: nothing is preloaded for it */
    char library[PATH_MAX]; /* absolute: to be preloaded behind the runtime; "" for none */
};

/* Every name of the table, for messages: "system, mimalloc, ...". */
#define ALLOCATOR_NAMES "system, mimalloc, jemalloc, tcmalloc"

enum allocator_answer {
    ALLOCATOR_CHOSEN,
    ALLOCATOR_UNKNOWN, /* neither a known name nor a path: wrong usage */
    ALLOCATOR_UNUSABLE /* not installed, or a file that will not do */
};

/* Finds out what text (NULL: "system") means and whether it can be had: a name of the table, or a
 * path with a '/' in it. Else *error says what is wrong and how to get it. */
enum allocator_answer allocator_choose(const char *text, struct allocator_choice *choice,
                                       struct error *error);

#endif
