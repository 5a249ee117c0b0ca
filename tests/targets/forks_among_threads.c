/* forks_among_threads.c: a program forks while its other threads are inside the allocator.
 *
 *     forks_among_threads FORKS
 *
 * Three threads hand blocks to each other and free them. Each child allocates, frees what it has
 * inherited and starts a thread; one that does not end within 20 s counts as hung. Every eighth
 * child is one of vfork that executes true. Prints "ok". */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, SHARED = 64, OWN = 3000, SECONDS = 20 };

static _Atomic(char *) shared[SHARED];
static atomic_bool done;

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void *pass_blocks(void *argument)
{
    unsigned state = (unsigned)(size_t)argument;
    while (!atomic_load_explicit(&done, memory_order_relaxed)) {
        size_t size = 8 + next_random(&state) % (next_random(&state) % 64 == 0 ? 200000 : 600);
        char *block = malloc(size);
        block[0] = block[size - 1] = 1;
        free(atomic_exchange(&shared[next_random(&state) % SHARED], block));
    }
    return NULL;
}

static void *allocate_a_little(void *argument)
{
    free(malloc(3000));
    return argument;
}

static void child(unsigned state)
{
    static char *blocks[OWN];
    pthread_t thread;
    alarm(SECONDS);
    for (int i = 0; i < SHARED; i++)
        free(atomic_exchange(&shared[i], NULL));
    for (int i = 0; i < OWN; i++)
        blocks[i] = memset(malloc(1 + next_random(&state) % 2000), i, 1);
    for (int i = 0; i < OWN; i++)
        free(blocks[i]);
    if (pthread_create(&thread, NULL, allocate_a_little, NULL) != 0)
        _exit(1);
    pthread_join(thread, NULL);
    _exit(0);
}

int main(int argc, char **argv)
{
    long forks = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, pass_blocks, (void *)i);
    int bad = 0;
    for (long i = 0; i < forks && bad == 0; i++) {
        pid_t pid = i % 8 == 7 ? vfork() : fork();
        if (pid == 0 && i % 8 == 7) {
            execlp("true", "true", (char *)NULL);
            _exit(1);
        }
        if (pid == 0)
            child((unsigned)i);
        int status;
        if (waitpid(pid, &status, 0) != pid || status != 0)
            bad = status;
    }
    atomic_store(&done, true);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (bad != 0)
        printf("a child ended with %x\n", (unsigned)bad);
    else
        puts("ok");
    return bad != 0;
}
