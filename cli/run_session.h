/* run_session.h: one `heapprof run` from the start of the command to its end, and beyond.
 *
 * The parts that belong to a run, shared by run.c (options, order of events), run_wait.c (while
 * somebody waits for us) and run_background.c (when nobody does any more). */
#ifndef HEAPPROF_CLI_RUN_SESSION_H
#define HEAPPROF_CLI_RUN_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/collector.h"
#include "cli/launch.h"
#include "cli/launch_signals.h"

struct session {
    struct launch_folder folder;
    struct launch_signals signals;
    struct collector *collector;
    pid_t command;
    int status;        /* of the command, as waitpid gives it */
    int wait_ms;       /* what collector_turn returned last */
    uint64_t start_ns; /* CLOCK_MONOTONIC */
    uint64_t end_ns;
    char **notes; /* lines for the user, printed at the end */
    size_t note_count, note_capacity;
};

/* One turn of the loop: sleeps until something happens, most_ms at most (-1: no limit), and deals
 * with it. command: who gets the signals, 0 for nobody. */
struct launch_news session_turn(struct session *session, pid_t command, int most_ms);

/* Serves until the command has ended; sets status and end_ns. */
void session_wait(struct session *session);

/* Serves until the files of all processes that have ended are written. An interrupt meanwhile
 * means to write them at once, without names. True when followed processes live on. */
bool session_finish(struct session *session);

/* Leaves the rest to a background process: a session of its own, with nothing of the caller's. The
 * folder is its business then. False when there can be none (errno). */
bool session_detach(struct session *session);

#endif
