/* counts_terms.c: prints "ready", then how many SIGTERM it got: the first and what comes within
 * 300 ms of it. */
#include <signal.h>
#include <stdio.h>
#include <time.h>

int main(void)
{
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL);
    puts("ready");
    fflush(stdout);
    int count = sigwaitinfo(&term, NULL) == SIGTERM;
    while (sigtimedwait(&term, NULL, &(struct timespec){.tv_nsec = 300000000}) == SIGTERM)
        count++;
    printf("%d\n", count);
    return 0;
}
