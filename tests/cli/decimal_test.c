/* decimal_test.c: decimal numbers in text that comes from a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/decimal.h"

static void the_digits_are_read_and_no_more(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t number;
        const char *rest;
    } cases[] = {
        {"0", 0, ""},       {"7:8", 7, ":8"},
        {"007 ", 7, " "},   {"18446744073709551615", UINT64_MAX, ""},
        {"12e3", 12, "e3"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *text = cases[i].text;
        uint64_t number = 1;
        assert_true(decimal_read(&text, &number));
        assert_true(number == cases[i].number);
        assert_string_equal(text, cases[i].rest);
    }
}

static void what_is_no_number_changes_nothing(void **state)
{
    (void)state;
    static const char *const cases[] = {"",
                                        " 1",
                                        "-1",
                                        "+1",
                                        ":1",
                                        "x",
                                        "18446744073709551616",
                                        "99999999999999999999999999999999"};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *text = cases[i];
        uint64_t number = 42;
        assert_false(decimal_read(&text, &number));
        assert_true(number == 42);
        assert_ptr_equal(text, cases[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_digits_are_read_and_no_more),
        cmocka_unit_test(what_is_no_number_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
