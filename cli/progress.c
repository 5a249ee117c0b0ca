/* progress.c: what we are at, on stderr, for work that takes longer than a second.
 *
 * The thread sleeps on a condition variable, so that progress_end wakes it at once: work of a
 * millisecond costs a thread's creation, and that only on a terminal. It writes whole lines with
 * write(2) and puts the cursor back, so that messages printed meanwhile are not mixed with it. */
#include "cli/progress.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/terminal_size.h"

#define DELAY_MS 1000
#define INTERVAL_MS 200
#define LINE_SIZE 256
#define ERASE_LINE "\r\033[K"

static void deadline_after(struct timespec *deadline, long ms)
{
    clock_gettime(CLOCK_MONOTONIC, deadline);
    deadline->tv_sec += ms / 1000;
    deadline->tv_nsec += ms % 1000 * 1000000;
    if (deadline->tv_nsec >= 1000000000) {
        deadline->tv_sec++;
        deadline->tv_nsec -= 1000000000;
    }
}

/* What cannot be shown is not worth an error: the result of the work counts. */
static void write_text(const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(STDERR_FILENO, text, length);
        if (written <= 0)
            return;
        text += written;
        length -= (size_t)written;
    }
}

static bool terminal_can_erase(void)
{
    const char *kind = getenv("TERM");
    return isatty(STDERR_FILENO) && kind != NULL && strcmp(kind, "dumb") != 0;
}

static void show(const struct progress *progress, time_t seconds)
{
    char line[LINE_SIZE];
    uint64_t done = atomic_load_explicit(&progress->done, memory_order_relaxed);
    uint64_t total = atomic_load_explicit(&progress->total, memory_order_relaxed);
    int length;
    if (total > 0)
        length = snprintf(line, sizeof(line), "heapprof: %s: %d%%", progress->what,
                          (int)((double)(done < total ? done : total) / (double)total * 100));
    else
        length =
            snprintf(line, sizeof(line), "heapprof: %s: %jd s", progress->what, (intmax_t)seconds);
    if (length <= 0)
        return;
    /* One column stays free: a full line would wrap, and could not be erased. */
    size_t shown = (size_t)length < sizeof(line) ? (size_t)length : sizeof(line) - 1;
    size_t columns = terminal_columns(STDERR_FILENO);
    if (shown >= columns)
        shown = columns - 1;
    char text[sizeof(ERASE_LINE) + LINE_SIZE];
    memcpy(text, ERASE_LINE, sizeof(ERASE_LINE) - 1);
    memcpy(text + sizeof(ERASE_LINE) - 1, line, shown);
    write_text(text, sizeof(ERASE_LINE) - 1 + shown);
}

static void *display(void *argument)
{
    struct progress *progress = argument;
    struct timespec start, now, deadline;
    bool shown = false;

    clock_gettime(CLOCK_MONOTONIC, &start);
    deadline_after(&deadline, DELAY_MS);
    pthread_mutex_lock(&progress->mutex);
    while (!progress->stop) {
        if (pthread_cond_timedwait(&progress->wake, &progress->mutex, &deadline) == 0)
            continue;
        clock_gettime(CLOCK_MONOTONIC, &now);
        show(progress, now.tv_sec - start.tv_sec);
        shown = true;
        deadline_after(&deadline, INTERVAL_MS);
    }
    pthread_mutex_unlock(&progress->mutex);
    if (shown)
        write_text(ERASE_LINE, sizeof(ERASE_LINE) - 1);
    return NULL;
}

/* Signals are the business of the thread that called us: the new one inherits a full mask. */
static bool start_thread(struct progress *progress)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    bool started = pthread_create(&progress->thread, NULL, display, progress) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void progress_start(struct progress *progress, const char *what)
{
    pthread_condattr_t attributes;

    memset(progress, 0, sizeof(*progress));
    progress->what = what;
    if (!terminal_can_erase())
        return;
    pthread_mutex_init(&progress->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&progress->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    progress->running = start_thread(progress);
}

void progress_update(struct progress *progress, uint64_t done, uint64_t total)
{
    atomic_store_explicit(&progress->done, done, memory_order_relaxed);
    atomic_store_explicit(&progress->total, total, memory_order_relaxed);
}

void progress_end(struct progress *progress)
{
    if (!progress->running)
        return;
    pthread_mutex_lock(&progress->mutex);
    progress->stop = true;
    pthread_cond_signal(&progress->wake);
    pthread_mutex_unlock(&progress->mutex);
    pthread_join(progress->thread, NULL);
    progress->running = false;
}
