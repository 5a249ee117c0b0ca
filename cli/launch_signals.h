/* launch_signals.h: signals while the command runs: as if it ran alone.
 *
 * All signals are blocked in the launcher and read from a descriptor. What somebody sends to the
 * launcher alone goes on to the command; what the terminal or anybody else sends to the process
 * group reaches the command by itself, since both are in one. When the command stops, so does the
 * launcher, and a shell's `fg` wakes both. */
#ifndef HEAPPROF_CLI_LAUNCH_SIGNALS_H
#define HEAPPROF_CLI_LAUNCH_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct error;

struct launch_signals {
    int fd;                   /* signalfd, non-blocking: readable when there are signals */
    sigset_t original;        /* the mask before */
    bool ignored_sigchld;     /* SIGCHLD was ignored before: then children cannot be waited for */
    bool ignored_internal[2]; /* signals 32 and 33, which glibc's threads take for themselves */
    pid_t witness;            /* group_witness.h; -1 when there is none */
};

/* What signals_read found. */
struct launch_news {
    bool child; /* a child has changed its state */
    bool hurry; /* an interrupt: asked to come to an end */
};

/* Blocks and opens, and starts the witness. False with *error. */
bool launch_signals_open(struct launch_signals *signals, struct error *error);

/* In the forked command, before exec: the mask and the dispositions are the caller's again. */
void launch_signals_restore(const struct launch_signals *signals);

/* Takes the signals that have come; those for the command are passed on to it, command 0: there is
 * none (any more). */
struct launch_news launch_signals_read(struct launch_signals *signals, pid_t command);

/* The command has ended: nothing is passed on any more, and the witness goes. */
void launch_signals_rest(struct launch_signals *signals);

/* The command was stopped by the signal of that number: stops this process too where a shell can
 * wake it (there is a terminal), until it is continued, and then sees that the command continues.
 */
void launch_signals_stop(pid_t command, int number);

/* Ends this process as the wait status says: by the same exit status, which is returned, or by the
 * same signal, without leaving a second core file. */
int launch_signals_end_as(int status);

#endif
