/* known_sites.c: one function a call site, with numbers known in advance.
 *
 *     function          alloc         inuse         peak          (objects/bytes, at --rate=1)
 *     keep_small        100/2400      100/2400      100/2400
 *     free_half         10/10000      5/5000        5/5000
 *     grow_by_realloc   3/350         1/50          1/50
 *     keep_aligned      3/1096        3/1096        3/1096
 *     keep_empty        7/0           7/0           7/0
 *     peak_and_free     1/1048576     0/0           1/1048576
 *     keep_late         50/4000       50/4000       0/0
 *
 * With an argument it ends by that signal instead of returning from main. */
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define SITE __attribute__((noinline)) static void

static void *volatile kept[400];
static unsigned kept_count;

static void keep(void *object)
{
    kept[kept_count++] = object;
}

SITE keep_small(void)
{
    for (int i = 0; i < 100; i++)
        keep(malloc(24));
}

SITE free_half(void)
{
    for (int i = 0; i < 10; i++)
        keep(malloc(1000));
    for (int i = 0; i < 5; i++)
        free(kept[--kept_count]);
}

SITE grow_by_realloc(void)
{
    keep(realloc(realloc(malloc(100), 200), 50));
}

SITE keep_aligned(void)
{
    void *object = NULL;
    if (posix_memalign(&object, 64, 640) == 0)
        keep(object);
    keep(aligned_alloc(128, 256));
    keep(memalign(32, 200));
}

SITE keep_empty(void)
{
    for (int i = 0; i < 7; i++)
        keep(malloc(0));
}

SITE peak_and_free(void)
{
    void *volatile object = malloc(1048576);
    free(object);
}

SITE keep_late(void)
{
    for (int i = 0; i < 50; i++)
        keep(calloc(10, 8));
}

int main(int argc, char **argv)
{
    keep_small();
    free_half();
    grow_by_realloc();
    keep_aligned();
    keep_empty();
    peak_and_free();
    keep_late();
    if (argc > 1)
        kill(getpid(), atoi(argv[1]));
    return 0;
}
