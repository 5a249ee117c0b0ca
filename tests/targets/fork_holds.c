/* fork_holds.c: a child starts from what its parent held at the fork.
 *
 *     at --rate=1             alloc      inuse      peak
 *     parent  parent_keeps    10/10000   10/10000   10/10000
 *             parent_frees     4/4000     0/0        4/4000
 *             parent_later    20/20000   20/20000   20/20000
 *     child   parent_keeps    10/10000    8/8000    10/10000
 *             parent_frees     none (freed before the fork)
 *             child_keeps      3/300      3/300      0/0, or 3/300 if counted before its frees
 *
 * The parent allocates on (parent_later) before the child has its first event, and waits for it. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SITE __attribute__((noinline)) static void

static void *volatile kept[64];
static unsigned kept_count;

SITE parent_keeps(void)
{
    for (int i = 0; i < 10; i++)
        kept[kept_count++] = malloc(1000);
}

SITE parent_frees(void)
{
    void *volatile objects[4];
    for (int i = 0; i < 4; i++)
        objects[i] = malloc(1000);
    for (int i = 0; i < 4; i++)
        free(objects[i]);
}

SITE parent_later(void)
{
    for (int i = 0; i < 20; i++)
        kept[kept_count++] = malloc(1000);
}

SITE child_keeps(void)
{
    for (int i = 0; i < 3; i++)
        kept[kept_count++] = malloc(100);
}

int main(void)
{
    int go[2];
    char byte = 0;
    parent_frees();
    parent_keeps();
    if (pipe(go) != 0)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        if (read(go[0], &byte, 1) != 1)
            _exit(1);
        free(kept[--kept_count]);
        free(kept[--kept_count]);
        child_keeps();
        _exit(0);
    }
    parent_later();
    if (write(go[1], &byte, 1) != 1)
        return 1;
    waitpid(child, NULL, 0);
    return 0;
}
