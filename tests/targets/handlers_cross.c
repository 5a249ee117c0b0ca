/* handlers_cross.c: two threads, each allocating at a place of its own, while the handler of each
 * allocates at the other's place.
 *
 * 3,000 signals each. Where a profiler locks per call site, the two may wait for each other. Prints
 * "done". Only at --rate=1, where every object is the profiler's. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIGNALS = 3000 };
static _Thread_local int me;
static _Atomic int handled[2], started, stop;

__attribute__((noinline)) static void first_place(void)
{
    free(malloc(100));
}

__attribute__((noinline)) static void second_place(void)
{
    free(malloc(100));
}

static void on_signal(int signal)
{
    (void)signal;
    if (me == 0)
        second_place();
    else
        first_place();
    handled[me]++;
}

static void *work(void *number)
{
    me = (int)(size_t)number;
    started++;
    while (!stop) {
        if (me == 0)
            first_place();
        else
            second_place();
    }
    return NULL;
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    pthread_t threads[2];
    sigaction(SIGUSR1, &action, NULL);
    for (size_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    while (started < 2)
        continue;
    for (int sent = 1; sent <= SIGNALS; sent++)
        for (int i = 0; i < 2; i++) {
            pthread_kill(threads[i], SIGUSR1);
            while (handled[i] < sent && i == 1)
                continue;
        }
    while (handled[0] == 0)
        continue;
    stop = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
