/* hook_exact_heap_test.c: the private mimalloc: its threads, its environment, its memory. */
#include "tests/runtime/range_child.h"

#include <errno.h>
#include <pthread.h>

static void *make_object(void *slot)
{
    struct range_record *record;
    void *kept = range_alloc(1000, 16, true, &record);
    CHECK(kept != NULL);
    for (size_t size = 1; size < 20000; size = size * 2 + 1) {
        void *p = range_alloc(size, 16, false, &record);
        CHECK(p != NULL);
        free_in_range(p);
    }
    *(void **)slot = kept;
    return NULL;
}

static void ended_threads(void)
{
    enum { COUNT = 3000 };
    static void *objects[COUNT];
    start_mimalloc();
    for (int i = 0; i < COUNT; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, make_object, &objects[i]) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    CHECK(status_kib("VmRSS:") < 100 << 10);
    for (int i = 0; i < COUNT; i++)
        free_in_range(objects[i]);
    for (int i = 0; i < COUNT; i++) {
        make_object(&objects[i]);
        free_in_range(objects[i]);
    }
}

static void objects_outlive_their_threads_and_can_be_freed_by_others(void **state)
{
    (void)state;
    run_in_child(ended_threads);
}

static pthread_key_t late_key;

static void allocate_late(void *rounds)
{
    struct range_record *record;
    free_in_range(range_alloc(100, 16, false, &record));
    if (rounds != (void *)1)
        pthread_setspecific(late_key, (char *)rounds - 1);
}

static void *end_late(void *argument)
{
    struct range_record *record;
    (void)argument;
    free_in_range(range_alloc(100, 16, false, &record));
    pthread_setspecific(late_key, (void *)4);
    return NULL;
}

static void late_destructors(void)
{
    start_mimalloc();
    CHECK(pthread_key_create(&late_key, allocate_late) == 0);
    for (int i = 0; i < 3000; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, end_late, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
}

static void destructors_that_run_after_ours_may_allocate_and_free(void **state)
{
    (void)state;
    run_in_child(late_destructors);
}

static void environment(void)
{
    struct range_record *record;
    char text[16];
    int pipe_ends[2];
    CHECK(pipe(pipe_ends) == 0);
    CHECK(dup2(pipe_ends[1], 2) == 2 && dup2(pipe_ends[1], 1) == 1);
    setenv("MIMALLOC_VERBOSE", "1", 1);
    setenv("MIMALLOC_SHOW_STATS", "1", 1);
    setenv("MIMALLOC_SHOW_ERRORS", "1", 1);
    setenv("MIMALLOC_RESERVE_OS_MEMORY", "256MiB", 1);
    setenv("MIMALLOC_LIMIT_OS_ALLOC", "0", 1);
    char **before = environ;
    start_mimalloc();
    CHECK(environ == before && getenv("MIMALLOC_VERBOSE") != NULL);
    for (int i = 0; i < 100000; i++) {
        void *p = range_alloc(3000, 16, false, &record);
        CHECK(range_holds(p));
        CHECK((char *)record == (char *)p - sizeof *record); /* mimalloc's, not a slab's */
    }
    if (fork() == 0)
        exit(0); /* with mimalloc's own exit handlers */
    int status;
    wait(&status);
    close(pipe_ends[1]);
    close(1);
    close(2);
    CHECK(read(pipe_ends[0], text, sizeof text) == 0);
}

static void mimalloc_variables_of_the_target_have_no_effect(void **state)
{
    (void)state;
    run_in_child(environment);
}

static void kept_errno(void)
{
    struct range_record *record;
    start_mimalloc();
    struct rlimit limit = {(uint64_t)status_kib("VmData:") * 1024 + (16 << 20), RLIM_INFINITY};
    CHECK(setrlimit(RLIMIT_DATA, &limit) == 0);
    errno = EDOM;
    for (int i = 0; i < 200; i++) {
        void *p = range_alloc(400000, 16, true, &record);
        if (p != NULL)
            memset(p, 1, 400000);
    }
    CHECK(range_alloc(400000, 16, true, &record) == NULL);
    CHECK(errno == EDOM);
}

static void errno_is_kept_also_when_memory_is_refused(void **state)
{
    (void)state;
    run_in_child(kept_errno);
}

static void fall_over(void)
{
    static void *objects[200000];
    struct range_record *record;
    struct rlimit limit = {((uint64_t)status_kib("VmSize:") << 10) + (8ull << 30), RLIM_INFINITY};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    start_mimalloc(); /* 1 GiB of range, 256 MiB of which are mimalloc's */
    size_t count = 0, with_header = 0;
    while (count < 200000 && (objects[count] = range_alloc(3000, 16, false, &record)) != NULL)
        with_header += (char *)record == (char *)objects[count++] - sizeof *record;
    CHECK(with_header > 50000 && with_header < count); /* mimalloc's first, then slabs */
    for (size_t i = 0; i < count; i++)
        free_in_range(objects[i]);
    CHECK(range_alloc(3000, 16, false, &record) != NULL);
}

static void when_mimalloc_is_full_the_slabs_take_over(void **state)
{
    (void)state;
    run_in_child(fall_over);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_outlive_their_threads_and_can_be_freed_by_others),
        cmocka_unit_test(destructors_that_run_after_ours_may_allocate_and_free),
        cmocka_unit_test(mimalloc_variables_of_the_target_have_no_effect),
        cmocka_unit_test(errno_is_kept_also_when_memory_is_refused),
        cmocka_unit_test(when_mimalloc_is_full_the_slabs_take_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
