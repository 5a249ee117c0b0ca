/* hook_sampler_rates_test.c: estimates stay right when the rate changes while threads run.
 *
 * A gap that was drawn at one rate may end after the rate has changed. Whoever counts that hit has
 * to weigh it with the rate of the gap, not with the one in force. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "runtime/hook_sampler.h"
#include "runtime/hook_weight.h"
#include <cmocka.h>

enum { ROUNDS = 6000, REQUESTS = 60, SIZE = 100 };

/* Each has its own sum: what is too high after a rise and too low after a fall must not cancel. */
static const uint64_t rates[] = {500, 20000, 2000};
enum { RATES = sizeof(rates) / sizeof(rates[0]) };

struct estimate {
    double objects, variance;
};

static void request(struct estimate *estimate)
{
    if (sampler_passes(SIZE) || !sampler_hit(SIZE))
        return;
    uint64_t rate = sampler_rate_of_hit();
    double weight = (double)weight_objects_q16(SIZE, rate) / 65536;
    estimate->objects += weight;
    estimate->variance += weight * (weight - 1);
}

static void make_requests(struct estimate *estimates, unsigned round)
{
    for (unsigned i = 0; i < REQUESTS; i++)
        request(&estimates[round % RATES]);
}

static void change_rate(unsigned round)
{
    sampler_configure(rates[round % RATES], round, 0);
}

static void check(const struct estimate *estimates)
{
    double truth = (double)ROUNDS / RATES * REQUESTS;
    bool right = true;
    for (unsigned i = 0; i < RATES; i++) {
        double error = sqrt(estimates[i].variance);
        print_message("# at rate %llu: %.0f objects estimated as %.0f, standard error %.0f\n",
                      (unsigned long long)rates[i], truth, estimates[i].objects, error);
        right = right && fabs(estimates[i].objects - truth) <= 4 * error;
        right = right && error < 0.06 * truth;
    }
    assert_true(right);
}

static void the_thread_that_changes_the_rate_stays_right(void **state)
{
    (void)state;
    struct estimate estimates[RATES] = {0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        change_rate(round);
        make_requests(estimates, round);
    }
    check(estimates);
}

static pthread_barrier_t barrier;

static void *make_all_requests(void *estimates)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&barrier);
        make_requests(estimates, round);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void other_threads_stay_right(void **state)
{
    (void)state;
    struct estimate estimates[RATES] = {0};
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, make_all_requests, estimates), 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        change_rate(round);
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
    }
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
    check(estimates);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_thread_that_changes_the_rate_stays_right),
        cmocka_unit_test(other_threads_stay_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
