/* thread_ends.c: many threads that allocate, end, and free and allocate once more while they end.
 *
 *     thread_ends THREADS AT_ONCE
 *
 * A destructor of thread-specific data frees a block of the thread's and allocates again, in each
 * of the rounds that the C library grants. Half of the blocks are freed by the main thread. Prints
 * the peak of resident memory in MiB. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { BLOCKS = 20, ROUNDS = 2 };

static pthread_key_t key;
static pthread_barrier_t all_there;

struct last {
    int round;
    char text[100];
};

static void at_thread_end(void *value)
{
    struct last *last = value;
    int round = last->round;
    free(last);
    if (round == ROUNDS)
        return;
    last = malloc(sizeof(*last));
    last->round = round + 1;
    strcpy(last->text, "once more");
    pthread_setspecific(key, last);
}

static void *run(void *left)
{
    void **blocks = left;
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = memset(malloc((size_t)(20 + 50 * i)), i, (size_t)(20 + 50 * i));
    pthread_setspecific(key, calloc(1, sizeof(struct last)));
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < BLOCKS; i += 2)
        free(blocks[i]);
    return left;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    long count = strtol(argv[1], NULL, 10), at_once = strtol(argv[2], NULL, 10);
    pthread_t *threads = calloc((size_t)at_once, sizeof(*threads));
    void *(*blocks)[BLOCKS] = calloc((size_t)at_once, sizeof(*blocks));
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    pthread_key_create(&key, at_thread_end);
    pthread_barrier_init(&all_there, NULL, (unsigned)at_once);
    for (long made = 0; made < count; made += at_once) {
        for (long i = 0; i < at_once; i++)
            if (pthread_create(&threads[i], &attributes, run, blocks[i]) != 0)
                return 1;
        for (long i = 0; i < at_once; i++) {
            pthread_join(threads[i], NULL);
            for (int k = 1; k < BLOCKS; k += 2)
                free(blocks[i][k]);
        }
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%ld\n", usage.ru_maxrss / 1024);
    return 0;
}
