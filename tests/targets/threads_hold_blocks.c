/* threads_hold_blocks.c: many threads, alive at once, each of which holds some blocks.
 *
 * threads_hold_blocks THREADS MOST SIZE: when all threads are there, number i allocates 1 + i %
 * MOST blocks of SIZE bytes, its first requests, and waits until all have done so and the main
 * thread has looked. Prints what /proc/self/smaps_rollup says then, "Rss: KB", "Pss_Anon: KB" and
 * "Pss_Shmem: KB", which are exact, as the figures of /proc/self/status are not. With 0 threads the
 * main thread allocates one block. The blocks are kept. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int thread_count, most;
static size_t size;
static pthread_barrier_t all_live, all_hold, looked;

__attribute__((noinline)) static void allocate_block(void)
{
    volatile char *block = malloc(size);
    if (block == NULL)
        abort();
    block[0] = 1;
}

static void *hold(void *number)
{
    pthread_barrier_wait(&all_live);
    for (int i = 0; i <= (int)(size_t)number % most; i++)
        allocate_block();
    pthread_barrier_wait(&all_hold);
    pthread_barrier_wait(&looked);
    return NULL;
}

/* By system calls alone: what it counts must not grow by it. */
static void print_memory(void)
{
    static const char *const names[] = {"Rss:", "Pss_Anon:", "Pss_Shmem:"};
    char text[2048];
    int file = open("/proc/self/smaps_rollup", O_RDONLY);
    ssize_t length = read(file, text, sizeof(text) - 1);
    close(file);
    text[length < 0 ? 0 : length] = '\0';
    for (int i = 0; i < 3; i++) {
        const char *found = strstr(text, names[i]);
        if (found != NULL)
            dprintf(1, "%s %ld\n", names[i], atol(found + strlen(names[i])));
    }
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    thread_count = atoi(argv[1]);
    most = atoi(argv[2]);
    size = strtoul(argv[3], NULL, 10);
    if (thread_count == 0)
        allocate_block();
    pthread_barrier_init(&all_live, NULL, (unsigned)thread_count + 1);
    pthread_barrier_init(&all_hold, NULL, (unsigned)thread_count + 1);
    pthread_barrier_init(&looked, NULL, (unsigned)thread_count + 1);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    pthread_t *threads = calloc((size_t)thread_count, sizeof(*threads));
    for (size_t i = 0; i < (size_t)thread_count; i++)
        if (pthread_create(&threads[i], &attributes, hold, (void *)i) != 0)
            return 3;
    pthread_barrier_wait(&all_live);
    pthread_barrier_wait(&all_hold);
    print_memory();
    pthread_barrier_wait(&looked);
    for (int i = 0; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    return 0;
}
