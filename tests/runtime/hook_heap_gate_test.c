/* hook_heap_gate_test.c: one thread at a time in its own place, and nobody during a fork. */
#include "tests/runtime/range_child.h"

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/hook_heap_gate.h"

static _Atomic int ends;

static void count_end(void)
{
    atomic_fetch_add(&ends, 1);
}

static void start_gate(void)
{
    CHECK(!heap_gate_enter());
    CHECK(heap_gate_start());
    CHECK(!heap_gate_enter());
    heap_gate_open(count_end);
}

static void enter_twice(void)
{
    start_gate();
    for (int i = 0; i < 3; i++) {
        CHECK(heap_gate_enter());
        CHECK(!heap_gate_enter());
        heap_gate_leave();
    }
}

static void a_thread_that_is_inside_does_not_enter_again(void **state)
{
    (void)state;
    run_in_child(enter_twice);
}

static void *enter_once(void *times)
{
    for (int i = 0; i < *(int *)times; i++) {
        CHECK(heap_gate_enter());
        heap_gate_leave();
    }
    return NULL;
}

static void run_thread(int times)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, enter_once, &times) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void thread_ends(void)
{
    start_gate();
    for (int i = 0; i < 10000; i++)
        run_thread(3);
    CHECK(ends == 10000);
    run_thread(0);
    CHECK(ends == 10000);
    CHECK(heap_gate_overhead_bytes() <= 10 * sizeof(struct heap_gate_place));
}

static void the_end_of_each_thread_that_was_inside_is_seen_and_its_place_used_again(void **state)
{
    (void)state;
    run_in_child(thread_ends);
}

static void fork_alone(void)
{
    start_gate();
    CHECK(heap_gate_enter());
    heap_gate_leave();
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        CHECK(heap_gate_enter());
        heap_gate_leave();
        int status = 0;
        CHECK(child == 0 || (waitpid(child, &status, 0) == child && status == 0));
    }
}

static void it_is_open_again_after_a_fork_in_parent_and_child(void **state)
{
    (void)state;
    run_in_child(fork_alone);
}

static void close_and_open(void)
{
    start_gate();
    heap_gate_close();
    CHECK(!heap_gate_enter());
    heap_gate_close(); /* two threads fork */
    heap_gate_open_parent();
    CHECK(!heap_gate_enter());
    heap_gate_open_parent();
    CHECK(heap_gate_enter());
    heap_gate_leave();
    heap_gate_close();
    heap_gate_open_child();
    CHECK(heap_gate_enter());
    heap_gate_leave();
}

static void nobody_enters_during_a_fork(void **state)
{
    (void)state;
    run_in_child(close_and_open);
}

static pthread_barrier_t meeting;

static void *stay_inside(void *argument)
{
    (void)argument;
    CHECK(heap_gate_enter());
    pthread_barrier_wait(&meeting);
    pthread_barrier_wait(&meeting);
    heap_gate_leave();
    return NULL;
}

static void fork_meanwhile(void)
{
    pthread_t thread;
    start_gate();
    pthread_barrier_init(&meeting, NULL, 2);
    CHECK(pthread_create(&thread, NULL, stay_inside, NULL) == 0);
    pthread_barrier_wait(&meeting);
    pid_t child = fork();
    if (child == 0) {
        CHECK(!heap_gate_enter());
        pid_t grandchild = fork();
        CHECK(!heap_gate_enter());
        CHECK(grandchild == 0 || waitpid(grandchild, NULL, 0) == grandchild);
        _exit(0);
    }
    CHECK(heap_gate_enter());
    heap_gate_leave();
    pthread_barrier_wait(&meeting);
    CHECK(pthread_join(thread, NULL) == 0);
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void the_gate_stays_closed_in_a_child_whose_parent_had_a_thread_inside(void **state)
{
    (void)state;
    run_in_child(fork_meanwhile);
}

static void fork_from_inside(void)
{
    start_gate();
    CHECK(heap_gate_enter()); /* as a signal handler that interrupts the heap and forks */
    heap_gate_close();
    heap_gate_open_child();
    heap_gate_leave();
    CHECK(heap_gate_enter());
    heap_gate_leave();
}

static void the_forking_thread_may_be_inside_itself(void **state)
{
    (void)state;
    run_in_child(fork_from_inside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_is_inside_does_not_enter_again),
        cmocka_unit_test(the_end_of_each_thread_that_was_inside_is_seen_and_its_place_used_again),
        cmocka_unit_test(it_is_open_again_after_a_fork_in_parent_and_child),
        cmocka_unit_test(nobody_enters_during_a_fork),
        cmocka_unit_test(the_gate_stays_closed_in_a_child_whose_parent_had_a_thread_inside),
        cmocka_unit_test(the_forking_thread_may_be_inside_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
