/* collector_proc.h: what /proc tells about a process.
 *
 * Processes come and go while we look: everything here may fail or be about nobody any more, and
 * says so. Pids are as this process sees them unless said otherwise. */
#ifndef HEAPPROF_CLI_COLLECTOR_PROC_H
#define HEAPPROF_CLI_COLLECTOR_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A descriptor that is readable once pid has ended; -1 with errno (ESRCH: it is gone already). */
int proc_pidfd(pid_t pid);
/* True when the process behind pidfd has ended. */
bool proc_has_ended(int pidfd);

/* Path of the program that pid runs, without " (deleted)"; "" when not known. Caller frees. */
char *proc_executable(pid_t pid);

/* The arguments of pid, each one quoted where a shell would need it, at most about 1000 bytes; ""
 * when not known. Caller frees. */
char *proc_command_line(pid_t pid);
/* The same for arguments at hand, NULL-terminated. */
char *proc_quote(char *const *arguments);

/* The regular file at path as pid sees it, or its program when path is ""; open for reading, -1
 * when it cannot be had. Never blocks on and never opens anything but a regular file. */
int proc_open_file(pid_t pid, const char *path);

/* The path of the file that pid has mapped at address; "" when none. Caller frees. */
char *proc_mapped_file(pid_t pid, uint64_t address);

/* How to recognise a forked child that is known by the pid it sees itself. */
struct proc_child {
    pid_t own_pid;          /* as it sees itself: another one than ours in a pid namespace */
    pid_t parent;           /* that forked it, 0 when not known; it may be dead */
    int store;              /* the file that it has mapped */
    const char *assignment; /* "NAME=value", in its environment even if it has executed a program */
};

/* The pid of the child; -1 when it is not to be found: it has ended. */
pid_t proc_find(const struct proc_child *child);

/* A process newer than since whose environment has assignment ("NAME=value"), other than the
 * callers' and than those that skip() says yes to; 0 when there is none. */
pid_t proc_find_environment(pid_t since, const char *assignment,
                            bool (*skip)(const void *context, pid_t pid), const void *context);

/* 'R', 'S', 'T' ...: the state of pid as in /proc/PID/stat, 0 when it is gone. */
char proc_state(pid_t pid);

#endif
