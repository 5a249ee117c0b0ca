/* collector_wake.h: turns the store's futex into a descriptor that can be polled.
 *
 * Profiled processes hold no descriptor, they raise a word of the store and wake the futex there.
 * A thread of the launcher waits on it and raises an eventfd. The thread blocks all signals and
 * touches nothing but the word and the eventfd, so forking while it runs is safe; wake_start waits
 * until it does run, since starting a thread takes locks of the C library. */
#ifndef HEAPPROF_CLI_COLLECTOR_WAKE_H
#define HEAPPROF_CLI_COLLECTOR_WAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct error;

struct wake {
    uint32_t *word; /* in the store's directory */
    int fd;         /* eventfd, non-blocking: readable when the word has changed */
    uint32_t stop;
    uint32_t ready; /* the thread is past its start-up */
    bool is_running;
    pthread_t thread;
};

/* Makes the descriptor (fd >= 0 is taken over) and starts the thread; wake must stay where it is
 * until wake_stop. False with *error. */
bool wake_start(struct wake *wake, uint32_t *word, int fd, struct error *error);

/* Ends the thread; the descriptor stays open. */
void wake_stop(struct wake *wake);

/* Makes fd unreadable until the next change. */
void wake_clear(const struct wake *wake);

#endif
