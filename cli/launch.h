/* launch.h: what the command needs to find us, and its start.
 *
 * A private folder holds the socket and a link to the runtime library. Its path is short and has
 * no character that the dynamic loader takes for something else in LD_PRELOAD. The command is
 * started with the environment, descriptors, signal mask and dispositions that the launcher was
 * started with, but for LD_PRELOAD, HEAPPROF_SOCKET and HEAPPROF_ALLOCATOR. */
#ifndef HEAPPROF_CLI_LAUNCH_H
#define HEAPPROF_CLI_LAUNCH_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct error;

/* The folder of a run. All paths are absolute. */
struct launch_folder {
    char path[64];
    char socket[96];          /* fits into sockaddr_un */
    char assignment[128];     /* "HEAPPROF_SOCKET=" and socket */
    char preload[96];         /* the link to the runtime */
    char allocator[PATH_MAX]; /* what to preload behind it; "" for nothing */
    char allocator_link[96];  /* "" when there is none */
    int listener;             /* listening Unix socket, non-blocking and close-on-exec */
    pid_t owner;              /* who is to remove it */
};

/* Makes the folder with what is in it. False with *error; nothing is left then. */
bool launch_folder_make(struct launch_folder *folder, struct error *error);
/* Puts a shared library, by its absolute path, behind the runtime in LD_PRELOAD: as it is, or by a
 * link in the folder where the loader would not understand the path. False with *error. */
bool launch_folder_add_allocator(struct launch_folder *folder, const char *library,
                                 struct error *error);
/* Removes it and closes the socket. */
void launch_folder_remove(struct launch_folder *folder);

/* Path of the runtime library: beside this command, or where it is installed. False with *error
 * when there is none. */
bool launch_find_runtime(char path[PATH_MAX], struct error *error);

/* True when the private mimalloc is beside the runtime library; false with *error. */
bool launch_has_mimalloc(struct error *error);

/* Makes sure that descriptors 0, 1 and 2 are taken, so that none of ours gets such a number: a
 * message would go into it. What was closed stays closed for the command. */
void launch_guard_stdio(void);

/* How to start the command. */
struct launch_command {
    char *const *arguments; /* NULL-terminated; arguments[0] is looked for as by execvp */
    const struct launch_folder *folder;
    bool preload;                         /* false: LD_PRELOAD is left as it is */
    const struct launch_signals *signals; /* mask and dispositions are as they were before */
};

/* Starts the command; its pid, or -1 with *exec_errno set to what was wrong: of fork when
 * *exec_failed is false, of execvp otherwise. The caller waits for it. */
pid_t launch_start(const struct launch_command *command, bool *exec_failed, int *exec_errno);

#endif
