/* handler_allocates.c: a signal handler allocates and frees while the program does the same.
 *
 * 300 handlers of a 200 us timer, each with 10 blocks. Prints "OBJECTS": how many blocks
 * allocate_in_main() and allocate_in_handler() made together; none is live at the end. Only for
 * allocators that can be interrupted: that is, at --rate=1, where every object is the profiler's.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static volatile sig_atomic_t handlers;
static volatile long made;

__attribute__((noinline)) static void *allocate_in_handler(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

__attribute__((noinline)) static void *allocate_in_main(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void on_timer(int signal)
{
    (void)signal;
    void *blocks[10];
    for (int i = 0; i < 10; i++)
        blocks[i] = allocate_in_handler((size_t)(i * 100));
    for (int i = 0; i < 10; i++)
        free(blocks[i]);
    handlers++;
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_timer};
    struct itimerval timer = {.it_interval = {.tv_usec = 200}, .it_value = {.tv_usec = 200}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    while (handlers < 300) {
        free(allocate_in_main((size_t)(made % 3000)));
        made++;
    }
    timer = (struct itimerval){0};
    setitimer(ITIMER_REAL, &timer, NULL);
    printf("%ld\n", made + handlers * 10L);
    return 0;
}
