/* lifetimes.c: sites whose objects live long or short, and end on one thread or another.
 *
 * free_at_once frees 100 objects as it makes them, hand_over 50 that another thread frees 20 ms
 * later, keep keeps 10. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { AT_ONCE = 100, HANDED = 50, KEPT = 10 };

static void *handed[HANDED], *volatile kept[KEPT];

static __attribute__((noinline)) void free_at_once(void)
{
    for (int i = 0; i < AT_ONCE; i++) {
        void *volatile p = malloc(64);
        free(p);
    }
}

static __attribute__((noinline)) void hand_over(void)
{
    for (int i = 0; i < HANDED; i++)
        handed[i] = malloc(128);
}

static __attribute__((noinline)) void keep(void)
{
    for (int i = 0; i < KEPT; i++)
        kept[i] = malloc(256);
}

static void *free_later(void *unused)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    for (int i = 0; i < HANDED; i++)
        free(handed[i]);
    return unused;
}

int main(void)
{
    pthread_t thread;
    free_at_once();
    keep();
    hand_over();
    if (pthread_create(&thread, NULL, free_later, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    return 0;
}
