/* logs_own_peak.c: a program that knows what each of its call sites held when it held most.
 *
 * logs_own_peak THREADS STEPS HOW: each thread keeps up to 256 blocks of up to 64 KiB, made by
 * site_0() to site_6() and resized by resize(); at first it mostly allocates, later it mostly
 * frees, again and again, and the hill in the middle is the highest. HOW locked: the blocks are
 * made and freed while the counters' lock is held, so that the program's order of events is the
 * allocator's. HOW free: only the counters are under the lock, so that the maximum is off by at
 * most a block a thread. Prints "max BYTES", then a line "SITE OBJECTS BYTES" for each site as it
 * was at the first moment of the maximum. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITES = 8, RESIZE = 7, PLACES = 256, MAX_THREADS = 16 };

struct held {
    long objects, bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t start;
static struct held now[SITES], at_maximum[SITES];
static long live, maximum, steps;
static bool locked;

static struct block {
    void *p;
    size_t size;
    int site;
} blocks[MAX_THREADS][PLACES];

#define SITE(number)                                                                               \
    __attribute__((noinline)) static void *site_##number(size_t size)                              \
    {                                                                                              \
        return malloc(size);                                                                       \
    }
SITE(0)
SITE(1)
SITE(2)
SITE(3)
SITE(4)
SITE(5)
SITE(6)

static void *(*const sites[])(size_t) = {site_0, site_1, site_2, site_3, site_4, site_5, site_6};

__attribute__((noinline)) static void *resize(void *p, size_t size)
{
    return realloc(p, size);
}

/* Under the lock. */
static void count(int site, size_t size, int sign)
{
    now[site].objects += sign;
    now[site].bytes += sign * (long)size;
    live += sign * (long)size;
    if (live > maximum) {
        maximum = live;
        memcpy(at_maximum, now, sizeof(now));
    }
}

static void allocate(struct block *block, int site, size_t size)
{
    *block = (struct block){.size = size, .site = site};
    if (locked)
        pthread_mutex_lock(&lock);
    block->p = sites[site](size);
    if (!locked)
        pthread_mutex_lock(&lock);
    count(site, size, 1);
    pthread_mutex_unlock(&lock);
}

static void release(struct block *block)
{
    pthread_mutex_lock(&lock);
    count(block->site, block->size, -1);
    if (!locked)
        pthread_mutex_unlock(&lock);
    free(block->p);
    if (locked)
        pthread_mutex_unlock(&lock);
    block->p = NULL;
}

static void change(struct block *block, size_t size)
{
    pthread_mutex_lock(&lock);
    count(block->site, block->size, -1);
    if (!locked)
        pthread_mutex_unlock(&lock);
    block->p = resize(block->p, size);
    if (!locked)
        pthread_mutex_lock(&lock);
    block->size = size;
    block->site = RESIZE;
    count(RESIZE, size, 1);
    pthread_mutex_unlock(&lock);
}

static void *work(void *number)
{
    struct block *own = blocks[(size_t)number];
    unsigned random = (unsigned)(size_t)number + 1;
    pthread_barrier_wait(&start);
    for (long step = 0; step < steps; step++) {
        struct block *block = &own[(unsigned)rand_r(&random) % PLACES];
        size_t size = 1 + (size_t)rand_r(&random) % (step * 3 / steps == 1 ? 65536 : 40000);
        bool grows = step * 12 / steps % 2 == 0;
        unsigned what = (unsigned)rand_r(&random) % 8;
        if (block->p == NULL && (grows || what == 0))
            allocate(block, rand_r(&random) % RESIZE, size);
        else if (block->p != NULL && what == 1)
            change(block, size);
        else if (block->p != NULL && (!grows || what == 2))
            release(block);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 4 || atoi(argv[1]) < 1 || atoi(argv[1]) > MAX_THREADS)
        return 2;
    unsigned count_of_threads = (unsigned)atoi(argv[1]);
    steps = atol(argv[2]);
    locked = strcmp(argv[3], "locked") == 0;
    pthread_t threads[MAX_THREADS];
    pthread_barrier_init(&start, NULL, count_of_threads);
    for (size_t i = 1; i < count_of_threads; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    work((void *)0);
    for (size_t i = 1; i < count_of_threads; i++)
        pthread_join(threads[i], NULL);
    printf("max %ld\n", maximum);
    for (int i = 0; i < RESIZE; i++)
        printf("site_%d %ld %ld\n", i, at_maximum[i].objects, at_maximum[i].bytes);
    printf("resize %ld %ld\n", at_maximum[RESIZE].objects, at_maximum[RESIZE].bytes);
    return 0;
}
