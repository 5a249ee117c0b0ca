/* hook_counts_test.c: live, allocated and peak values, with threads and signal handlers. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/time.h>

#include <cmocka.h>

#include "runtime/hook_counts.h"
#include "runtime/hook_weight.h"
#include "tests/runtime/store_fixture.h"

static void change(uint32_t stack, uint64_t size, bool freed)
{
    struct counts_change one = {.stack = stack, .freed = freed, .size = size, .weight_q16 = 65536};
    counts_change(&one);
}

static uint32_t make_stack(uint64_t leaf)
{
    const uint64_t pcs[] = {0x401000 + leaf, 0x500000};
    return store_intern(0, pcs, 2, STORE_FRAME_NONE);
}

static uint64_t sum_at_peak(uint32_t stacks)
{
    uint64_t sum = 0;
    for (uint32_t id = 1; id < stacks; id++)
        sum += store_fixture_at_peak(id)->bytes;
    return sum;
}

static void the_peak_is_what_each_stack_held_then(void **state)
{
    (void)state;
    store_fixture(1, 1 << 20, 1);
    uint32_t a = make_stack(1);
    uint32_t b = make_stack(2);
    change(a, 100, false);
    change(b, 50, false);
    change(a, 100, true);
    change(b, 70, false); /* 120: below the peak */
    assert_int_equal(store_fixture_peak(), 150);
    assert_int_equal(store_fixture_at_peak(a)->bytes, 100);
    assert_int_equal(store_fixture_at_peak(b)->bytes, 50);
    change(b, 40, false); /* 160: the new peak */
    change(b, 160, true);
    assert_int_equal(store_fixture_peak(), 160);
    assert_int_equal(store_fixture_at_peak(a)->bytes, 0);
    assert_int_equal(store_fixture_at_peak(b)->bytes, 160);
    assert_int_equal(store_fixture_at_peak(b)->objects_q16, 3 * 65536);
    assert_int_equal(store.stacks[b].alloc.bytes, 160);
    assert_int_equal(store.stacks[b].inuse.bytes, 0);
    assert_int_equal(store_fixture_live(), 0);
}

/* A random walk against a copy of all stacks taken at the true peak. */
static void the_peak_of_a_random_walk_is_exact(void **state)
{
    (void)state;
    enum { STACKS = 50, STEPS = 200000 };
    store_fixture(1, 1 << 20, 1);
    uint32_t ids[STACKS];
    uint64_t held[STACKS] = {0};
    uint64_t at_peak[STACKS] = {0};
    uint64_t live = 0;
    uint64_t peak = 0;
    for (unsigned i = 0; i < STACKS; i++)
        ids[i] = make_stack(i);
    srand(1);
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned i = (unsigned)rand() % STACKS;
        uint64_t size = 1 + (uint64_t)rand() % 1000;
        bool freed = rand() % 2 == 0 && held[i] >= size;
        change(ids[i], size, freed);
        held[i] = freed ? held[i] - size : held[i] + size;
        live = freed ? live - size : live + size;
        if (live > peak) {
            peak = live;
            for (unsigned k = 0; k < STACKS; k++)
                at_peak[k] = held[k];
        }
    }
    assert_int_equal(store_fixture_live(), live);
    assert_int_equal(store_fixture_peak(), peak);
    for (unsigned k = 0; k < STACKS; k++)
        assert_int_equal(store_fixture_at_peak(ids[k])->bytes, at_peak[k]);
}

/* --- threads --------------------------------------------------------------------------------- */

enum { WALKERS = 4, WALK_STACKS = 20, WALK_STEPS = 100000 };
static uint32_t walk_ids[WALK_STACKS];

static void *walk(void *seed)
{
    unsigned random = *(unsigned *)seed;
    uint64_t held[WALK_STACKS] = {0};
    for (unsigned step = 0; step < WALK_STEPS; step++) {
        unsigned i = (unsigned)rand_r(&random) % WALK_STACKS;
        uint64_t size = 1 + (uint64_t)rand_r(&random) % 1000;
        bool freed = rand_r(&random) % 2 == 0 && held[i] >= size;
        change(walk_ids[i], size, freed);
        held[i] = freed ? held[i] - size : held[i] + size;
    }
    for (unsigned i = 0; i < WALK_STACKS; i++)
        if (held[i] != 0)
            change(walk_ids[i], held[i], true);
    return NULL;
}

static void the_stacks_add_up_to_the_peak_with_several_threads(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 10; round++)
        for (unsigned threads = 1; threads <= WALKERS; threads *= 2) {
            store_fixture(1, 1 << 20, 2);
            for (unsigned i = 0; i < WALK_STACKS; i++)
                walk_ids[i] = make_stack(i);
            pthread_t thread[WALKERS];
            unsigned seeds[WALKERS];
            for (unsigned i = 0; i < threads; i++) {
                seeds[i] = round * 100 + i;
                assert_int_equal(pthread_create(&thread[i], NULL, walk, &seeds[i]), 0);
            }
            for (unsigned i = 0; i < threads; i++)
                pthread_join(thread[i], NULL);
            assert_int_equal(store_fixture_live(), 0);
            assert_int_equal(sum_at_peak(store.header->stack_count), store_fixture_peak());
            assert_true(store_fixture_peak() > 0);
        }
}

/* Where every allocation is recorded, changes of several threads may be late: as hook_live.h says.
 */
static void late_changes_move_the_peak_by_no_more_than_they_may(void **state)
{
    (void)state;
    enum { LATE_MOST = 32 * 4096 };
    for (unsigned round = 0; round < 10; round++) {
        store_fixture(1, 1 << 20, 1);
        for (unsigned i = 0; i < WALK_STACKS; i++)
            walk_ids[i] = make_stack(i);
        pthread_t thread[WALKERS];
        unsigned seeds[WALKERS];
        for (unsigned i = 0; i < WALKERS; i++) {
            seeds[i] = round * 100 + i;
            assert_int_equal(pthread_create(&thread[i], NULL, walk, &seeds[i]), 0);
        }
        for (unsigned i = 0; i < WALKERS; i++)
            pthread_join(thread[i], NULL);
        uint64_t peak = store_fixture_peak(), sum = sum_at_peak(store.header->stack_count);
        assert_true(sum > LATE_MOST && store.header->live_is_late);
        assert_in_range(sum, peak - LATE_MOST, peak + LATE_MOST);
        assert_in_range(store_fixture_live(), 0, LATE_MOST);
        for (unsigned i = 0; i < WALK_STACKS; i++)
            assert_int_equal(store.stacks[walk_ids[i]].inuse.bytes, 0);
    }
}

/* --- signal handlers ------------------------------------------------------------------------- */

static volatile sig_atomic_t handled;
static uint32_t handler_stack;

static void on_alarm(int signal)
{
    (void)signal;
    for (unsigned i = 0; i < 2; i++)
        change(handler_stack, 10, false);
    for (unsigned i = 0; i < 2; i++)
        change(handler_stack, 10, true);
    handled++;
}

static void a_handler_that_changes_the_same_stack_neither_waits_nor_loses(void **state)
{
    (void)state;
    store_fixture(1, 1 << 20, 2);
    handler_stack = make_stack(1);
    handled = 0;
    struct sigaction action = {.sa_handler = on_alarm};
    struct sigaction old;
    sigaction(SIGALRM, &action, &old);
    /* One at a time: on a busy machine several could come while one change is off its processor. */
    const struct itimerval soon = {.it_value = {.tv_usec = 200}};
    sig_atomic_t armed = -1;
    uint64_t changes = 0;
    while (handled < 500) {
        if (armed != handled) {
            armed = handled;
            setitimer(ITIMER_REAL, &soon, NULL);
        }
        change(handler_stack, 100, false);
        change(handler_stack, 100, true);
        changes++;
    }
    sigaction(SIGALRM, &old, NULL);
    change(handler_stack, 1, false); /* takes along what a last handler may have left */
    uint64_t lost = store.header->losses[STORE_LOSS_REENTRANT];
    assert_int_equal(lost, 0);
    assert_int_equal(store_fixture_live(), 1);
    assert_int_equal(store.stacks[handler_stack].alloc.bytes,
                     changes * 100 + (uint64_t)handled * 20 + 1);
}

/* --- fork ------------------------------------------------------------------------------------ */

static void a_child_starts_from_what_is_held_and_nothing_else(void **state)
{
    (void)state;
    store_fixture(2, 1 << 20, 2);
    uint32_t a = make_stack(1);
    uint32_t b = make_stack(2);
    change(a, 100, false);
    change(a, 100, false);
    change(b, 30, false);
    change(b, 30, true);
    assert_true(counts_holds(a));
    assert_false(counts_holds(b));
    uint32_t count = store.header->stack_count;
    uint32_t node_a = store.stacks[a].node;
    store_attach(1, 2, 2, 2);
    store.stacks[a].node = node_a;
    counts_restore(count);
    assert_int_equal(store_fixture_live(), 200);
    assert_int_equal(store_fixture_peak(), 200);
    assert_int_equal(store.stacks[a].alloc.bytes, 200);
    assert_int_equal(store.stacks[a].inuse.objects_q16, 2 * 65536);
    assert_int_equal(store.stacks[b].alloc.bytes, 0);
    change(a, 100, true);
    assert_int_equal(store_fixture_at_peak(a)->bytes, 200);
    assert_int_equal(store_fixture_live(), 100);
}

/* --- lifetimes and errors -------------------------------------------------------------------- */

/* ticks must be a multiple of 16. */
static moment at(uint64_t ticks, uint64_t thread)
{
    return ticks >> MOMENT_TICK_SHIFT << MOMENT_THREAD_BITS | thread;
}

static void allocate_and_free(uint32_t stack, uint64_t weight_q16, moment born, moment now)
{
    struct counts_change one = {.stack = stack, .size = 8, .weight_q16 = weight_q16, .born = born};
    counts_change(&one);
    one.freed = true;
    one.now = now;
    counts_change(&one);
}

static void lifetimes_are_counted_by_weight(void **state)
{
    (void)state;
    store_fixture(1, 1 << 20, 2);
    counts_set_temporary(1600);
    uint32_t stack = make_stack(1);
    const struct store_lifetimes *lifetimes = &store.stacks[stack].lifetimes;
    allocate_and_free(stack, 65536, at(160, 1), at(160 + 1600, 1)); /* old enough by a hair */
    assert_int_equal(lifetimes->temporary_q16, 0);
    assert_int_equal(lifetimes->shortest, 1600 + 1);
    allocate_and_free(stack, 3 * 65536, at(320, 1), at(320 + 1584, 2));
    allocate_and_free(stack, 65536, at(320, 2), at(160, 2)); /* another processor's counter */
    assert_int_equal(lifetimes->sum.low, (1600 + 3 * 1584) * 65536ull);
    assert_int_equal(lifetimes->sum.high, 0);
    assert_int_equal(lifetimes->shortest, 0 + 1);
    assert_int_equal(lifetimes->longest, 1600);
    assert_int_equal(lifetimes->temporary_q16, 4 * 65536);
    assert_int_equal(lifetimes->foreign_q16, 3 * 65536);
    assert_int_equal(store.stacks[stack].born.low, 0);
    assert_int_equal(store.stacks[stack].born.high, 0);
}

static void births_of_what_is_in_use_add_up(void **state)
{
    (void)state;
    store_fixture(1, 1 << 20, 2);
    uint32_t stack = make_stack(1);
    const uint64_t late = 1ull << 50; /* a sum of more than 64 bits */
    struct counts_change first = {
        .stack = stack, .size = 8, .weight_q16 = 65536, .born = at(160, 1)};
    struct counts_change second = {
        .stack = stack, .size = 8, .weight_q16 = 65536, .born = at(late, 1)};
    counts_change(&first);
    counts_change(&second);
    unsigned __int128 sum = (unsigned __int128)(late + 160) << 16;
    assert_true(store.stacks[stack].born.low == (uint64_t)sum);
    assert_true(store.stacks[stack].born.high == (uint64_t)(sum >> 64));
    second.freed = true;
    second.now = at(late, 1);
    counts_change(&second);
    assert_int_equal(store.stacks[stack].born.low, 160 << 16);
    assert_int_equal(store.stacks[stack].born.high, 0);
}

/* The closed form, for objects of half a rate and of an eighth; taken back by the free. */
static void variances_follow_the_closed_form(void **state)
{
    (void)state;
    store_fixture(1, 1 << 20, 2);
    uint32_t stack = make_stack(1);
    double bytes = 0, objects = 0;
    struct counts_change changes[] = {{.stack = stack, .size = 1u << 20},
                                      {.stack = stack, .size = 1u << 18}};
    for (size_t i = 0; i < 2; i++) {
        changes[i].weight_q16 = weight_objects_q16(changes[i].size, 2u << 20);
        counts_change(&changes[i]);
        double p = -expm1(-(double)changes[i].size / (2 << 20));
        objects += (1 - p) / (p * p);
        bytes += (1 - p) / (p * p) * (double)changes[i].size * (double)changes[i].size;
    }
    const struct store_variance *variance = &store.stacks[stack].inuse_variance;
    assert_true(fabs((double)variance->objects.low / 65536 / objects - 1) < 1e-4);
    assert_true(fabs((double)variance->bytes.low / bytes - 1) < 1e-4);
    struct store_variance alloc = store.stacks[stack].alloc_variance;
    for (size_t i = 0; i < 2; i++) {
        changes[i].freed = true;
        counts_change(&changes[i]);
    }
    assert_int_equal(variance->objects.low | variance->objects.high, 0);
    assert_int_equal(variance->bytes.low | variance->bytes.high, 0);
    assert_memory_equal(&alloc, &store.stacks[stack].alloc_variance, sizeof(alloc));
    assert_memory_equal(&alloc, &store.stacks[stack].saved_variance, sizeof(alloc));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_peak_is_what_each_stack_held_then),
        cmocka_unit_test(the_peak_of_a_random_walk_is_exact),
        cmocka_unit_test(the_stacks_add_up_to_the_peak_with_several_threads),
        cmocka_unit_test(late_changes_move_the_peak_by_no_more_than_they_may),
        cmocka_unit_test(a_handler_that_changes_the_same_stack_neither_waits_nor_loses),
        cmocka_unit_test(lifetimes_are_counted_by_weight),
        cmocka_unit_test(births_of_what_is_in_use_add_up),
        cmocka_unit_test(variances_follow_the_closed_form),
        cmocka_unit_test(a_child_starts_from_what_is_held_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
