/* collector_names.h: what the files of a run are called.
 *
 * The command's file is heap.prof, those of other processes are heap.PID.prof. A pattern without
 * '%' names the command's file, others get the pid before its suffix; in a pattern with '%' stand
 * %p (pid as the launcher sees it), %e (the program's name), %n (the process' number in the run,
 * 1 for the command) and %%. An image that was followed by an exec'd one gets its number before
 * the suffix. No name is given twice in a run. Not thread-safe. */
#ifndef HEAPPROF_CLI_COLLECTOR_NAMES_H
#define HEAPPROF_CLI_COLLECTOR_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct names;

/* The file's process. */
struct names_of {
    uint32_t pid;
    uint32_t sequence;      /* of the process in the run, from 1 */
    uint32_t earlier_image; /* 0 for the process' last image, else 1 for its first, ... */
    bool is_command;
    const char *executable; /* path or name of the program; "" when not known */
};

/* pattern as given by the user, NULL for the default with suffix (".prof"). NULL with *error when
 * the pattern has a '%' that means nothing. Freed with names_free. */
struct names *names_new(const char *pattern, const char *suffix, struct error *error);
void names_free(struct names *names);

/* The name for a process' file, not used before in this run; the caller frees. */
char *names_next(struct names *names, const struct names_of *of);

/* A name to try before the command starts: the command's, as far as it is known by then. NULL when
 * its folder is not known yet. executable is the command as given. The caller frees. */
char *names_preview(const struct names *names, const char *executable);

/* True when only one file can bear the pattern's name whatever the process: it has no '%'. */
bool names_is_fixed(const struct names *names);

#endif
