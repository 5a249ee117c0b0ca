/* progress.h: what we are at, on stderr, for work that takes longer than a second.
 *
 *     struct progress progress;
 *     progress_start(&progress, "symbolizing");
 *     for (...) progress_update(&progress, done, total);
 *     progress_end(&progress);
 *
 * Nothing at all is printed when stderr is not a terminal (or one that cannot erase a line), or
 * when the work ends within a second. A thread of its own does the printing, so work that cannot be
 * interrupted to report (reading a large file) shows too. That thread blocks all signals and uses
 * neither stdio nor malloc: forking while it runs is safe. */
#ifndef HEAPPROF_CLI_PROGRESS_H
#define HEAPPROF_CLI_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Owned by the caller, not to be moved between progress_start and progress_end. */
struct progress {
    const char *what;
    bool running; /* the thread exists */
    bool stop;    /* guarded by mutex */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    _Atomic uint64_t done;
    _Atomic uint64_t total; /* 0 while unknown */
};

/* Begins to watch. what is a word or two, lower case ("reading heap.prof"), without control
 * characters, and must live until progress_end. Failing to make a thread only means no display. */
void progress_start(struct progress *progress, const char *what);

/* done of total units are ready; cheap enough for every iteration of a loop that does real work.
 * Any thread. */
void progress_update(struct progress *progress, uint64_t done, uint64_t total);

/* Ends the display and erases its line. */
void progress_end(struct progress *progress);

#endif
