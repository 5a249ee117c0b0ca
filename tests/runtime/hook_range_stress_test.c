/* hook_range_stress_test.c: the range under threads, signals and forks, alone and together.
 *
 * Objects pass through a table of exchange places: whoever draws one there checks it and frees it,
 * so most are freed by another thread, or by a signal handler in the middle of an allocation. */
#include "tests/runtime/range_child.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

enum { THREADS = 4, STEPS = 150000, PLACES = 256, FORKS = 60 };

static _Atomic(void *) places[PLACES];
static _Atomic bool stop;
static _Atomic long signals_handled;
static _Atomic long refused;

/* An object knows its size and where it is; its last bytes too. */
struct content {
    uintptr_t self;
    size_t size;
};

static size_t stress_size(uint64_t r)
{
    if (r % 64 == 0)
        return 40000 + r % 900000;
    return sizeof(struct content) + 8 + r / 64 % (r % 8 == 0 ? 20000 : 300);
}

static void mark(void *p, size_t size)
{
    struct content content = {(uintptr_t)p, size};
    memcpy(p, &content, sizeof content);
    memcpy((char *)p + size - sizeof content.self, &content.self, sizeof content.self);
}

static void check_mark(const void *p)
{
    struct content content;
    uintptr_t end;
    memcpy(&content, p, sizeof content);
    CHECK(content.self == (uintptr_t)p);
    memcpy(&end, (const char *)p + content.size - sizeof end, sizeof end);
    CHECK(end == (uintptr_t)p);
    const struct range_record *record = range_record_of(p);
    CHECK(record != NULL && record->size == content.size);
}

static void exchange(void *p, uint64_t r)
{
    void *drawn = atomic_exchange(&places[r % PLACES], p);
    if (drawn == NULL)
        return;
    check_mark(drawn);
    free_in_range(drawn);
}

static void step(uint64_t *random)
{
    struct range_record *record;
    uint64_t r = next_random(random);
    size_t size = stress_size(r);
    size_t alignment = r % 32 == 0 ? 512 : 16;
    char *p = range_alloc(size, alignment, r % 4 == 0, &record);
    if (p == NULL) {
        atomic_fetch_add(&refused, 1);
        return;
    }
    CHECK((uintptr_t)p % alignment == 0);
    if (r % 4 == 0)
        CHECK(p[0] == 0 && p[size / 2] == 0 && p[size - 1] == 0);
    mark(p, size);
    if (next_random(random) % 4 == 0) {
        size_t larger = size + stress_size(next_random(random));
        char *moved = range_realloc(p, &record, larger);
        if (moved != NULL) {
            uintptr_t self;
            memcpy(&self, moved, sizeof self);
            CHECK(self == (uintptr_t)p);
            p = moved;
            mark(p, larger);
        }
    }
    exchange(p, next_random(random));
}

static void drain(void)
{
    for (uint64_t i = 0; i < PLACES; i++)
        exchange(NULL, i);
    check_no_hole();
}

static void *run_steps(void *seed)
{
    uint64_t random = (uintptr_t)seed * 0x9e3779b97f4a7c15ull;
    for (int i = 0; i < STEPS && !atomic_load(&stop); i++)
        step(&random);
    return NULL;
}

static void *run_until_stopped(void *seed)
{
    uint64_t random = (uintptr_t)seed * 0x9e3779b97f4a7c15ull;
    while (!atomic_load(&stop))
        step(&random);
    return NULL;
}

static pthread_t threads[THREADS];

static void start_threads(void *(*run)(void *))
{
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, run, (void *)(i + 1)) == 0);
}

static void join_threads(void)
{
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

/* --- threads ------------------------------------------------------------------------------- */

static void threads_only(void)
{
    start_threads(run_steps);
    join_threads();
    drain();
    CHECK(refused == 0);
}

static void threads_with_slabs(void)
{
    start_slabs();
    threads_only();
}

static void threads_with_mimalloc(void)
{
    start_mimalloc();
    threads_only();
}

static void threads_may_free_what_others_have_made(void **state)
{
    (void)state;
    run_in_child(threads_with_slabs);
    run_in_child(threads_with_mimalloc);
}

/* --- signals ------------------------------------------------------------------------------- */

static void on_signal(int number)
{
    static _Atomic uint64_t seed = 88172645463325252ull;
    uint64_t random = atomic_fetch_add(&seed, 0x9e3779b97f4a7c15ull) | 1;
    int saved_errno = errno;
    (void)number;
    for (int i = 0; i < 5; i++)
        step(&random);
    CHECK(errno == saved_errno);
    atomic_fetch_add(&signals_handled, 1);
}

static timer_t timer;

/* The handler interrupts the threads anywhere, itself too. Timers do not pass to forked children.
 */
static void make_timer(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_NODEFER | SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
}

static void start_timer(void)
{
    const struct itimerspec each = {{0, 100000}, {0, 100000}};
    CHECK(timer_settime(timer, 0, &each, NULL) == 0);
}

static void stop_timer(void)
{
    const struct itimerspec none = {{0, 0}, {0, 0}};
    CHECK(timer_settime(timer, 0, &none, NULL) == 0);
}

static void signals_only(void)
{
    make_timer();
    start_timer();
    start_threads(run_steps);
    join_threads();
    for (uint64_t random = 99; atomic_load(&signals_handled) < 2000;)
        step(&random);
    stop_timer();
    drain();
    CHECK(refused == 0);
}

static void signals_with_slabs(void)
{
    start_slabs();
    signals_only();
}

static void signals_with_mimalloc(void)
{
    start_mimalloc();
    signals_only();
}

static void signal_handlers_may_allocate_and_free_in_the_middle(void **state)
{
    (void)state;
    run_in_child(signals_with_slabs);
    run_in_child(signals_with_mimalloc);
}

/* --- forks --------------------------------------------------------------------------------- */

static void child_of_fork(void)
{
    uint64_t random = (uint64_t)getpid() * 0x9e3779b97f4a7c15ul;
    alarm(CHILD_SECONDS);
    for (int i = 0; i < 300; i++)
        step(&random);
    _exit(0);
}

static void forks_only(bool with_signals)
{
    make_timer();
    start_threads(run_until_stopped);
    if (with_signals)
        start_timer();
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0)
            child_of_fork();
        int status;
        while (waitpid(child, &status, 0) < 0)
            CHECK(errno == EINTR);
        CHECK(status == 0);
    }
    stop_timer();
    atomic_store(&stop, true);
    join_threads();
    drain();
}

static void forks_with_slabs(void)
{
    start_slabs();
    forks_only(false);
}

static void forks_with_mimalloc(void)
{
    start_mimalloc();
    forks_only(false);
}

static void forks_and_signals_with_slabs(void)
{
    start_slabs();
    forks_only(true);
}

static void forks_and_signals_with_mimalloc(void)
{
    start_mimalloc();
    forks_only(true);
}

static void children_forked_at_any_instant_can_use_the_range(void **state)
{
    (void)state;
    run_in_child(forks_with_slabs);
    run_in_child(forks_with_mimalloc);
    run_in_child(forks_and_signals_with_slabs);
    run_in_child(forks_and_signals_with_mimalloc);
}

/* --- one object, many callers -------------------------------------------------------------- */

static _Atomic long won;
static pthread_barrier_t together;
static struct range_record *contested;

static void *try_to_free(void *argument)
{
    (void)argument;
    for (int i = 0; i < 2000; i++) {
        pthread_barrier_wait(&together);
        if (range_begin_free(contested))
            atomic_fetch_add(&won, 1);
        pthread_barrier_wait(&together);
    }
    return NULL;
}

static void contest(void)
{
    struct range_record *record;
    start_slabs();
    pthread_barrier_init(&together, NULL, THREADS + 1);
    start_threads(try_to_free);
    for (int i = 0; i < 2000; i++) {
        void *p = range_alloc(64, 16, false, &record);
        contested = record;
        pthread_barrier_wait(&together);
        pthread_barrier_wait(&together);
        CHECK(atomic_exchange(&won, 0) == 1);
        range_free(p, record);
    }
    join_threads();
}

static void of_many_that_free_one_object_one_wins(void **state)
{
    (void)state;
    run_in_child(contest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_may_free_what_others_have_made),
        cmocka_unit_test(signal_handlers_may_allocate_and_free_in_the_middle),
        cmocka_unit_test(children_forked_at_any_instant_can_use_the_range),
        cmocka_unit_test(of_many_that_free_one_object_one_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
