/* target_check.h: whether a command can be profiled at all, told from its file.
 *
 * The runtime comes in through the dynamic loader of the C library it was built for. This looks at
 * the file that would be executed, through scripts to their interpreters, and says why that cannot
 * work. It only informs: the command is started in any case, and what really happened counts. Does
 * not know what the program does later (a shell that runs a static program). */
#ifndef HEAPPROF_CLI_TARGET_CHECK_H
#define HEAPPROF_CLI_TARGET_CHECK_H

#include <limits.h>
#include <stdbool.h>

struct target_check {
    bool can_profile;    /* true also when nothing is known against it */
    bool keeps_preload;  /* LD_PRELOAD does no harm there and may reach its children */
    char file[PATH_MAX]; /* the file that decided: the program, or a script's interpreter */
    char reason[256];    /* "is statically linked"; follows the file's name; "" when can_profile */
};

/* Looks at command as execvp would find it with this process' PATH. Cannot fail: a command that
 * does not exist can_profile. Touches regular files only. */
void target_check(const char *command, struct target_check *check);

#endif
