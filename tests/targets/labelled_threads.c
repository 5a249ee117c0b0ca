/* labelled_threads.c: threads, one after the other on the same stack, with names given in all ways.
 *
 * Each allocates 10 blocks in the same function and frees half of them: first 1000 bytes, after it
 * 2000 and so on. With an argument "fork", a child of the last state does so once more, and its own
 * block is the last. Prints the id of each thread, in order. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum naming {
    BY_ITSELF,
    AFTER_ALLOCATING,
    BY_ANOTHER,
    BY_ANOTHER_LATE,
    BY_PRCTL,
    NOT_AT_ALL,
    KINDS
};

static pthread_barrier_t barrier;
static void *volatile kept;

__attribute__((noinline)) static void allocate(size_t size)
{
    for (int i = 0; i < 10; i++) {
        void *block = malloc(size);
        if (i % 2 == 0)
            free(block);
        else
            kept = block;
    }
}

static void *thread(void *argument)
{
    enum naming naming = (enum naming)(long)argument;
    size_t size = 1000 * ((size_t)naming + 1);
    if (naming == BY_ANOTHER)
        pthread_barrier_wait(&barrier);
    if (naming == BY_ITSELF)
        pthread_setname_np(pthread_self(), "by itself");
    if (naming == BY_PRCTL)
        prctl(PR_SET_NAME, "by prctl");
    allocate(size);
    if (naming == AFTER_ALLOCATING)
        pthread_setname_np(pthread_self(), "a name of 15 by");
    if (naming == BY_ANOTHER_LATE) {
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
    }
    printf("%d\n", gettid());
    return NULL;
}

static void run(enum naming naming)
{
    pthread_t id;
    if (pthread_create(&id, NULL, thread, (void *)(long)naming) != 0)
        exit(1);
    if (naming == BY_ANOTHER_LATE)
        pthread_barrier_wait(&barrier);
    if (naming == BY_ANOTHER || naming == BY_ANOTHER_LATE) {
        pthread_setname_np(id, naming == BY_ANOTHER ? "by another" : "by another late");
        pthread_barrier_wait(&barrier);
    }
    pthread_join(id, NULL);
}

int main(int argc, char **argv)
{
    static char buffer[4096];
    setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
    pthread_barrier_init(&barrier, NULL, 2);
    for (int naming = 0; naming < KINDS; naming++)
        run((enum naming)naming);
    if (argc > 1 && strcmp(argv[1], "fork") == 0) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            allocate(100000);
            run(BY_ITSELF);
            printf("%d\n", gettid());
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    return 0;
}
