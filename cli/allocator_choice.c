/* allocator_choice.c: the allocators that have a name, and those that come by path.
 *
 * Of tcmalloc the minimal library comes first: the full one loads libunwind, whose
 * _Unwind_RaiseException then stands in front of libgcc's for every C++ exception of the program,
 * and the sampler that it brings is not what is wanted here. */
#include "cli/allocator_choice.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/allocator_library.h"
#include "cli/loader.h"
#include "cli/spelling.h"
#include "proto/error.h"

enum { MOST_LIBRARIES = 2 };

static const struct row {
    const char *name;
    const char *libraries[MOST_LIBRARIES]; /* the first one that is there is taken */
    const char *package;                   /* Debian's, of the first */
    bool is_private;
} rows[] = {
    {.name = "system"},
    {.name = "mimalloc", .is_private = true},
    {.name = "jemalloc", .libraries = {"libjemalloc.so.2"}, .package = "libjemalloc2"},
    {.name = "tcmalloc",
     .libraries = {"libtcmalloc_minimal.so.4", "libtcmalloc.so.4"},
     .package = "libtcmalloc-minimal4"},
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

static const struct row *find_row(const char *name)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static enum allocator_answer choose_row(const struct row *row, struct allocator_choice *choice,
                                        struct error *error)
{
    choice->name = row->name;
    choice->is_private = row->is_private;
    if (!row->package)
        return ALLOCATOR_CHOSEN;
    for (size_t i = 0; i < MOST_LIBRARIES && row->libraries[i]; i++)
        if (loader_find(row->libraries[i], choice->library))
            return allocator_library_check(choice->library, error) ? ALLOCATOR_CHOSEN
                                                                   : ALLOCATOR_UNUSABLE;
    error_set(error, "--allocator",
              "%s is not installed: there is no %s; install it with: apt-get install %s", row->name,
              row->libraries[0], row->package);
    return ALLOCATOR_UNUSABLE;
}

static enum allocator_answer choose_path(const char *path, struct allocator_choice *choice,
                                         struct error *error)
{
    choice->name = NULL;
    /* Links are followed: what a library says of $ORIGIN is about the place where it lies. */
    if (!realpath(path, choice->library)) {
        error_set_errno(error, path, errno, "cannot be used as the allocator");
        return ALLOCATOR_UNUSABLE;
    }
    return allocator_library_check(choice->library, error) ? ALLOCATOR_CHOSEN : ALLOCATOR_UNUSABLE;
}

static enum allocator_answer tell_unknown(const char *text, struct error *error)
{
    struct spelling spelling;
    spelling_init(&spelling, text);
    for (size_t i = 0; i < ROW_COUNT; i++)
        spelling_offer(&spelling, rows[i].name);
    if (spelling.best)
        error_set(error, "--allocator", "'%s' is not known, did you mean '%s'?", text,
                  spelling.best);
    else if (text[0] != '\0' && access(text, F_OK) == 0)
        error_set(error, "--allocator", "'%s' is not known; for the file, say ./%s", text, text);
    else
        error_set(error, "--allocator",
                  "'%s' is not known, only " ALLOCATOR_NAMES
                  " and the path, with a '/', of a shared library are",
                  text);
    return ALLOCATOR_UNKNOWN;
}

enum allocator_answer allocator_choose(const char *text, struct allocator_choice *choice,
                                       struct error *error)
{
    *choice = (struct allocator_choice){0};
    if (text && strchr(text, '/'))
        return choose_path(text, choice, error);
    const struct row *row = find_row(text ? text : rows[0].name);
    return row ? choose_row(row, choice, error) : tell_unknown(text, error);
}
