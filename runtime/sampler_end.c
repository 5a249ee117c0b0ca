/* sampler_end.c: has each thread's count of bytes settled when the thread ends.
 *
 * A thread that ends by other roads (SIGKILL, _exit, another thread's exit) leaves its last gap
 * uncounted; the store says how many did. */
#include "runtime/sampler_end.h"

#include <pthread.h>

#include "runtime/hook_sampler.h"

/* glibc keeps the values of the first keys in the thread's own descriptor, and allocates for the
 * others. Source: glibc nptl/pthread_setspecific.c, PTHREAD_KEY_2NDLEVEL_SIZE. */
enum { KEYS_WITHOUT_ALLOCATION = 32 };

static pthread_key_t end_key;

static void thread_ends(void *value)
{
    (void)value;
    sampler_settle();
}

static void thread_starts(void)
{
    pthread_setspecific(end_key, &end_key);
}

void sampler_end_start(void)
{
    if (pthread_key_create(&end_key, thread_ends) != 0)
        return;
    if (end_key < KEYS_WITHOUT_ALLOCATION)
        sampler_on_thread_start = thread_starts;
    else
        pthread_key_delete(end_key);
}

__attribute__((destructor)) static void process_ends(void)
{
    sampler_settle();
}
