/* collector_sandbox.h: names are looked up, and the file is made, in a process that may crash.
 *
 * A forked child symbolizes the profile and writes the finished file into a memfd. Debug
 * information is decoded by old and large code from files that may be damaged: whatever happens to
 * the child, the profile in the launcher stays. The child has limits on CPU time and memory, its
 * own stderr is nowhere. */
#ifndef HEAPPROF_CLI_COLLECTOR_SANDBOX_H
#define HEAPPROF_CLI_COLLECTOR_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct files;
struct profile;

/* From all names to none: what a failed attempt is followed by. */
enum sandbox_names {
    SANDBOX_ALL_NAMES,    /* functions, files, lines, inlined frames */
    SANDBOX_SYMBOLS_ONLY, /* symbol tables, no DWARF */
    SANDBOX_NO_NAMES      /* addresses */
};

/* Shared with the child while it works. */
struct sandbox_progress {
    uint64_t done, total;      /* locations */
    uint64_t named, with_line; /* of these, once it has ended well */
};

struct sandbox {
    pid_t child;
    int pidfd;  /* readable once the child has ended */
    int result; /* the memfd */
    struct sandbox_progress *progress;
};

/* Starts a child for profile, which stays as it is here. False, with errno, when there can be
 * none. */
bool sandbox_start(struct sandbox *sandbox, const char *format, struct profile *profile,
                   const struct files *files, enum sandbox_names names);

/* Waits for the child, which pidfd said has ended, and frees it. True when the memfd holds the
 * whole file: *result is it then, at its beginning, for the caller to close; *last holds the
 * child's last figures. Otherwise reason (of size bytes) says what happened: "crashed (signal
 * 11)". */
bool sandbox_finish(struct sandbox *sandbox, int *result, struct sandbox_progress *last,
                    char *reason, unsigned long size);

/* Kills the child and frees all. */
void sandbox_kill(struct sandbox *sandbox);

#endif
