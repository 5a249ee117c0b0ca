/* standard_error_test.c: how far an estimate may be from the truth, for people. */
#include "cli/standard_error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>

static void assert_text(double variance, const char *unit, const char *to, const char *expected)
{
    char text[QUANTITY_TEXT_SIZE];
    assert_string_equal(standard_error_text(variance, unit, to, text), expected);
}

static void two_errors_are_twice_the_root_of_the_variance(void **state)
{
    (void)state;
    assert_true(standard_error_twice(9) == 6);
    assert_true(standard_error_twice(0.25) == 1);
    assert_true(standard_error_twice(0x1p124) == 0x1p63);
}

static void what_is_no_variance_has_no_error(void **state)
{
    (void)state;
    assert_true(standard_error_twice(0) == 0);
    assert_true(standard_error_twice(-4) == 0);
    assert_true(standard_error_twice(__builtin_nan("")) == 0);
}

static void the_error_is_in_the_unit_of_its_value(void **state)
{
    (void)state;
    assert_text(0x1p38, "bytes", "MB", "1MB");
    assert_text(0x1p38, "bytes", "kB", "1024kB");
    assert_text(900, "count", "count", "60");
    assert_text(0, "bytes", "MB", "0");
}

static void an_error_that_would_be_nothing_in_that_unit_has_its_own(void **state)
{
    (void)state;
    assert_text(0x1p18, "bytes", "GB", "1kB");
    assert_text(0.01, "bytes", "GB", "0");
}

static void an_error_beyond_all_numbers_is_the_largest(void **state)
{
    (void)state;
    assert_text(DBL_MAX, "count", "count", "9223372036854775808");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_errors_are_twice_the_root_of_the_variance),
        cmocka_unit_test(what_is_no_variance_has_no_error),
        cmocka_unit_test(the_error_is_in_the_unit_of_its_value),
        cmocka_unit_test(an_error_that_would_be_nothing_in_that_unit_has_its_own),
        cmocka_unit_test(an_error_beyond_all_numbers_is_the_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
