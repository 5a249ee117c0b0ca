/* hook_weight_test.c: the integer law against the closed forms in doubles. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "runtime/hook_weight.h"

static const uint64_t rates[] = {2, 7, 64, 4096, 524288, 1000000, 1ull << 30};

static void for_each_size(void (*check)(uint64_t size, uint64_t rate, double x))
{
    for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++)
        for (double ratio = 1e-7; ratio < 60; ratio *= 1.07) {
            uint64_t size = (uint64_t)(ratio * (double)rates[r]);
            if (size >= 1)
                check(size, rates[r], (double)size / (double)rates[r]);
        }
}

static void check_weight(uint64_t size, uint64_t rate, double x)
{
    double expected = 1 / -expm1(-x);
    double weight = (double)weight_objects_q16(size, rate) / 65536;
    assert_true(fabs(weight - expected) <= expected * 1e-7 + 1.0 / 65536);
    assert_true(weight >= 1);
}

static void weights_are_the_inverse_of_the_probability(void **state)
{
    (void)state;
    for_each_size(check_weight);
}

static void rate_one_is_exact(void **state)
{
    (void)state;
    for (uint64_t size = 0; size < 1ull << 40; size = size * 3 + 1) {
        assert_int_equal(weight_objects_q16(size, 1), WEIGHT_ONE_Q16);
        assert_int_equal(weight_bytes(size, WEIGHT_ONE_Q16), size);
    }
}

static void an_empty_object_weighs_like_one_byte_and_holds_nothing(void **state)
{
    (void)state;
    assert_int_equal(weight_objects_q16(0, 4096), weight_objects_q16(1, 4096));
    assert_int_equal(weight_bytes(0, weight_objects_q16(0, 4096)), 0);
}

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15ull;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/* Mean and spread of the gaps, and the share above the mean, within 5 standard errors. */
static void gaps_are_exponential(void **state)
{
    (void)state;
    enum { DRAWS = 1000000 };
    uint64_t random = 42;
    for (size_t r = 3; r < sizeof(rates) / sizeof(rates[0]); r++) {
        double sum = 0;
        double squares = 0;
        double above = 0;
        for (int i = 0; i < DRAWS; i++) {
            uint64_t bytes = weight_gap_bytes(next_random(&random), rates[r]);
            double gap = (double)bytes / (double)rates[r];
            assert_true(bytes >= 1);
            sum += gap;
            squares += gap * gap;
            above += bytes > rates[r];
        }
        /* Rounding up adds half a byte to the mean. */
        double half = 0.5 / (double)rates[r];
        assert_true(fabs(sum / DRAWS - 1 - half) < 5 / sqrt(DRAWS));
        assert_true(fabs(squares / DRAWS - 2) < 5 * sqrt(20.0 / DRAWS) + 4 * half);
        assert_true(fabs(above / DRAWS - exp(-1)) < 5 * sqrt(0.2325 / DRAWS));
    }
}

static void gaps_take_every_random_word(void **state)
{
    (void)state;
    assert_int_equal(weight_gap_bytes(UINT64_MAX, 524288), 1);
    assert_int_equal(weight_gap_bytes(0, 524288), weight_gap_bytes(1, 524288));
    double longest = (double)weight_gap_bytes(0, 1ull << 40) / (double)(1ull << 40);
    assert_true(fabs(longest - 64 * log(2)) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_the_inverse_of_the_probability),
        cmocka_unit_test(rate_one_is_exact),
        cmocka_unit_test(an_empty_object_weighs_like_one_byte_and_holds_nothing),
        cmocka_unit_test(gaps_are_exponential),
        cmocka_unit_test(gaps_take_every_random_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
