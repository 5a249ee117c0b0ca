/* hook_sampler_test.c: which requests are chosen. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "runtime/hook_sampler.h"
#include "runtime/hook_weight.h"

static bool chosen(size_t size)
{
    return !sampler_passes(size) && sampler_hit(size);
}

/* Estimates of bytes and objects within 5 standard errors of the truth, for one size. */
static void check_estimate(size_t size, uint64_t rate, unsigned requests)
{
    double objects = 0;
    double variance = 0;
    for (unsigned i = 0; i < requests; i++)
        if (chosen(size)) {
            double weight = (double)weight_objects_q16(size, rate) / 65536;
            objects += weight;
            variance += weight * (weight - 1);
        }
    assert_true(fabs(objects - requests) <= 5 * sqrt(variance) + 1);
}

static void estimates_are_unbiased_for_small_and_large_requests(void **state)
{
    (void)state;
    sampler_configure(4096, 7, 0);
    check_estimate(16, 4096, 4000000);
    check_estimate(4096, 4096, 200000);
    check_estimate(16384, 4096, 100000);
    sampler_configure(1000, 8, 0);
    check_estimate(1, 1000, 4000000);
    check_estimate(500, 1000, 400000);
}

static void an_empty_request_is_chosen_like_one_byte(void **state)
{
    (void)state;
    sampler_configure(100, 3, 0);
    check_estimate(0, 100, 1000000);
}

static void mixed_sizes_are_each_unbiased(void **state)
{
    (void)state;
    sampler_configure(2000, 11, 0);
    static const size_t sizes[] = {0, 24, 100, 3000, 50000};
    double objects[5] = {0};
    double variance[5] = {0};
    enum { ROUNDS = 300000 };
    for (unsigned i = 0; i < ROUNDS; i++)
        for (unsigned s = 0; s < 5; s++)
            if (chosen(sizes[s])) {
                double weight = (double)weight_objects_q16(sizes[s], 2000) / 65536;
                objects[s] += weight;
                variance[s] += weight * (weight - 1);
            }
    for (unsigned s = 0; s < 5; s++)
        assert_true(fabs(objects[s] - ROUNDS) <= 5 * sqrt(variance[s]) + 1);
}

static uint64_t fingerprint(void)
{
    uint64_t print = 0;
    for (unsigned i = 0; i < 100000; i++)
        if (chosen(i % 200))
            print = print * 31 + i;
    return print;
}

static void the_same_seed_chooses_the_same_requests(void **state)
{
    (void)state;
    sampler_configure(4096, 5, 0);
    uint64_t first = fingerprint();
    sampler_configure(4096, 5, 0);
    assert_true(fingerprint() == first);
    sampler_configure(4096, 6, 0);
    assert_true(fingerprint() != first);
    sampler_configure(4096, 5, 1); /* a forked child */
    assert_true(fingerprint() != first);
}

static void *thread_fingerprint(void *result)
{
    *(uint64_t *)result = fingerprint();
    return NULL;
}

static void threads_choose_differently(void **state)
{
    (void)state;
    uint64_t prints[2];
    sampler_configure(4096, 5, 0);
    for (unsigned i = 0; i < 2; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, thread_fingerprint, &prints[i]), 0);
        pthread_join(thread, NULL);
    }
    assert_true(prints[0] != prints[1]);
}

static void rate_one_chooses_everything_and_rate_zero_nothing(void **state)
{
    (void)state;
    sampler_configure(1, 5, 0);
    for (size_t size = 0; size < 1000; size++)
        assert_true(chosen(size));
    sampler_configure(0, 5, 0);
    for (size_t size = 0; size < 1000; size++)
        assert_false(chosen(size));
}

/* A signal handler that allocates while the request it has interrupted is being decided. */
static void a_request_inside_another_is_decided_on_its_own(void **state)
{
    (void)state;
    sampler_configure(1, 5, 0);
    for (unsigned i = 0; i < 100; i++) {
        assert_false(sampler_passes(100));
        assert_true(chosen(50));
        assert_true(sampler_hit(100));
    }
    sampler_configure(1000, 5, 0);
    unsigned outer = 0;
    unsigned inner = 0;
    for (unsigned i = 0; i < 1000000; i++) {
        if (sampler_passes(100))
            continue;
        outer++;
        inner += chosen(100);
        sampler_hit(100);
    }
    double p = -expm1(-0.1);
    assert_true(fabs(outer / 1e6 - p) < 5 * sqrt(p * (1 - p) / 1e6));
    assert_true(fabs((double)inner / outer - p) < 5 * sqrt(p * (1 - p) / outer));
}

static void sizes_that_cannot_be_are_neither_chosen_nor_counted(void **state)
{
    (void)state;
    sampler_configure(1000, 5, 0);
    chosen(1);
    int64_t before = sampler_until;
    assert_false(chosen(SIZE_MAX));
    assert_false(chosen((size_t)PTRDIFF_MAX + 1));
    assert_int_equal(sampler_until, before);
}

/* Not only at the thread's first request: its first gap is random as well. */
static void the_first_request_of_a_thread_is_not_favoured(void **state)
{
    (void)state;
    unsigned hits = 0;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        sampler_configure(1000, seed, 0);
        hits += chosen(100);
    }
    double p = -expm1(-0.1);
    assert_true(fabs(hits / 20000.0 - p) < 5 * sqrt(p * (1 - p) / 20000));
}

static uint64_t counted_bytes, counted_threads;
static _Atomic uint32_t counts_are_own = 1;
static _Atomic(uint64_t) asked_bytes;

static void *ask_and_settle(void *seed)
{
    unsigned random = *(unsigned *)seed;
    for (unsigned i = 0; i < 200000; i++) {
        size_t size = 1 + (size_t)rand_r(&random) % 300;
        asked_bytes += size;
        chosen(size);
    }
    sampler_settle();
    return NULL;
}

static void bytes_are_counted_exactly_once_a_thread_is_settled(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    sampler_configure(5000, 9, 0);
    sampler_count_in(&counted_bytes, &counted_threads, &counts_are_own);
    pthread_t threads[THREADS];
    unsigned seeds[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        seeds[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, ask_and_settle, &seeds[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(counted_bytes, asked_bytes);
    assert_int_equal(counted_threads, 0);
    sampler_count_in(NULL, NULL, NULL);
}

/* As in a forked child, whose slot comes with its first recorded object. */
static void what_is_counted_early_goes_into_the_next_words(void **state)
{
    (void)state;
    uint64_t others_bytes = 0, others_threads = 0;
    unsigned seed = 1;
    asked_bytes = 0;
    counted_bytes = counted_threads = 0;
    counts_are_own = 0;
    sampler_configure(5000, 9, 0);
    sampler_count_in(&others_bytes, &others_threads, &counts_are_own);
    ask_and_settle(&seed);
    assert_int_equal(others_bytes, 0);
    assert_int_equal(others_threads, 0);
    sampler_count_in(&counted_bytes, &counted_threads, &counts_are_own);
    counts_are_own = 1;
    ask_and_settle(&seed);
    assert_int_equal(counted_bytes, asked_bytes);
    assert_int_equal(counted_threads, 0);
    sampler_count_in(NULL, NULL, NULL);
}

struct change_of_rate {
    pthread_barrier_t before, after;
    uint64_t rates[2]; /* of the first two samples after the change */
};

static void *sample_across_a_change(void *argument)
{
    struct change_of_rate *change = argument;
    chosen(1);
    pthread_barrier_wait(&change->before);
    pthread_barrier_wait(&change->after);
    for (size_t i = 0; i < 2; i++) {
        while (!chosen(16))
            continue;
        change->rates[i] = sampler_rate_of_hit();
    }
    return NULL;
}

/* A gap that was drawn at the old rate runs to its end, and its sample is weighed by that rate. */
static void a_gap_of_the_old_rate_ends_by_the_old_rate(void **state)
{
    (void)state;
    struct change_of_rate change;
    pthread_t thread;
    pthread_barrier_init(&change.before, NULL, 2);
    pthread_barrier_init(&change.after, NULL, 2);
    sampler_configure(1000000, 5, 0);
    assert_int_equal(pthread_create(&thread, NULL, sample_across_a_change, &change), 0);
    pthread_barrier_wait(&change.before);
    sampler_configure(64, 5, 0);
    pthread_barrier_wait(&change.after);
    pthread_join(thread, NULL);
    assert_int_equal(change.rates[0], 1000000);
    assert_int_equal(change.rates[1], 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_are_unbiased_for_small_and_large_requests),
        cmocka_unit_test(an_empty_request_is_chosen_like_one_byte),
        cmocka_unit_test(mixed_sizes_are_each_unbiased),
        cmocka_unit_test(the_same_seed_chooses_the_same_requests),
        cmocka_unit_test(threads_choose_differently),
        cmocka_unit_test(rate_one_chooses_everything_and_rate_zero_nothing),
        cmocka_unit_test(a_request_inside_another_is_decided_on_its_own),
        cmocka_unit_test(sizes_that_cannot_be_are_neither_chosen_nor_counted),
        cmocka_unit_test(bytes_are_counted_exactly_once_a_thread_is_settled),
        cmocka_unit_test(what_is_counted_early_goes_into_the_next_words),
        cmocka_unit_test(a_gap_of_the_old_rate_ends_by_the_old_rate),
        cmocka_unit_test(the_first_request_of_a_thread_is_not_favoured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
