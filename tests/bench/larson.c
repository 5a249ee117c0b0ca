/* larson.c: the benchmark of a server: threads that free what other threads have allocated.
 *
 * After P. Larson and M. Krishnan, "Memory allocation for long-running server applications"
 * (ISMM 1998): each thread replaces random blocks of its array, then hands the array on to a new
 * thread. Blocks of 16 to 1024 bytes. Arguments: generations of threads (default 150, about a
 * second), threads at a time (2). */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { THREADS_MAX = 64, BLOCKS = 1000, REPLACED = 100000, SMALLEST_BYTES = 16, SIZES = 1009 };

struct array {
    volatile char *blocks[BLOCKS];
    uint32_t random;
};

static uint32_t next_random(struct array *array)
{
    array->random = array->random * 1664525u + 1013904223u;
    return array->random >> 8;
}

static void *replace_blocks(void *argument)
{
    struct array *array = argument;
    for (int i = 0; i < REPLACED; i++) {
        volatile char **slot = &array->blocks[next_random(array) % BLOCKS];
        free((void *)*slot);
        *slot = malloc(SMALLEST_BYTES + next_random(array) % SIZES);
        if (*slot == NULL)
            exit(1);
        **slot = 1;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    long generations = argc > 1 ? strtol(argv[1], NULL, 10) : 150;
    long at_a_time = argc > 2 ? strtol(argv[2], NULL, 10) : 2;
    static struct array arrays[THREADS_MAX];
    if (at_a_time < 1 || at_a_time > THREADS_MAX)
        return 2;
    for (uint32_t i = 0; i < THREADS_MAX; i++)
        arrays[i].random = i + 1;
    for (long generation = 0; generation < generations; generation++) {
        pthread_t threads[THREADS_MAX];
        for (long i = 0; i < at_a_time; i++)
            if (pthread_create(&threads[i], NULL, replace_blocks, &arrays[i]) != 0)
                return 1;
        for (long i = 0; i < at_a_time; i++)
            pthread_join(threads[i], NULL);
    }
    return 0;
}
