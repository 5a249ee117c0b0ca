/* frees_in_key_destructors.c: threads that allocate and free while their thread-specific data are
 * being destroyed, after the destructors of everybody who came before.
 *
 * frees_in_key_destructors THREADS: each thread has a block of 100 bytes from allocate_in_thread(),
 * freed by the destructor of the first key. The destructor of the second sets its key again, so
 * that it runs in all four rounds; in each it frees its block of 200 bytes and allocates another
 * by allocate_in_destructor(), which in the last round it frees too. 8 threads at a time. Nothing
 * stays: allocated are THREADS blocks of 100 bytes and 5 * THREADS of 200. Prints "done ROUNDS"
 * with the rounds that were run, 4 * THREADS. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { AT_ONCE = 8, DESTRUCTOR_ROUNDS = 4 };

static pthread_key_t frees_once, frees_in_each_round;
static _Thread_local int round_of_thread;
static _Atomic long rounds;

__attribute__((noinline)) static void *allocate_in_thread(void)
{
    return malloc(100);
}

__attribute__((noinline)) static void *allocate_in_destructor(void)
{
    return malloc(200);
}

static void destroy_once(void *block)
{
    free(block);
}

static void destroy_in_each_round(void *block)
{
    rounds++;
    free(block);
    block = allocate_in_destructor();
    if (++round_of_thread == DESTRUCTOR_ROUNDS)
        free(block);
    else
        pthread_setspecific(frees_in_each_round, block);
}

static void *work(void *nothing)
{
    pthread_setspecific(frees_once, allocate_in_thread());
    pthread_setspecific(frees_in_each_round, allocate_in_destructor());
    return nothing;
}

int main(int argc, char **argv)
{
    long threads = argc > 1 ? atol(argv[1]) : 10000;
    pthread_key_create(&frees_once, destroy_once);
    pthread_key_create(&frees_in_each_round, destroy_in_each_round);
    for (long made = 0; made < threads; made += AT_ONCE) {
        pthread_t thread[AT_ONCE];
        for (int i = 0; i < AT_ONCE; i++)
            if (pthread_create(&thread[i], NULL, work, NULL) != 0)
                return 1;
        for (int i = 0; i < AT_ONCE; i++)
            pthread_join(thread[i], NULL);
    }
    printf("done %ld\n", (long)rounds);
    return 0;
}
