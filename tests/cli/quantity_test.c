/* quantity_test.c: values with units as people read them. */
#include "cli/quantity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static void assert_text(int64_t value, const char *unit, const char *expected)
{
    char text[QUANTITY_TEXT_SIZE];
    assert_string_equal(quantity_text(value, unit, text), expected);
}

static void bytes_are_scaled_by_1024_and_keep_two_decimals(void **state)
{
    (void)state;
    assert_text(1, "bytes", "1B");
    assert_text(1023, "bytes", "1023B");
    assert_text(1024, "bytes", "1kB");
    assert_text(1536, "bytes", "1.50kB");
    assert_text(12 * 1048576 + 524288, "bytes", "12.50MB");
    assert_text(1ll << 30, "bytes", "1GB");
    assert_text(1ll << 40, "bytes", "1TB");
    assert_text(1ll << 50, "bytes", "1PB");
    assert_text(INT64_MAX, "bytes", "8192PB");
}

static void times_are_scaled_up_to_hours(void **state)
{
    (void)state;
    assert_text(999, "nanoseconds", "999ns");
    assert_text(1500, "nanoseconds", "1.50us");
    assert_text(2000000, "nanoseconds", "2ms");
    assert_text(90, "seconds", "90s");
    assert_text(5 * 3600, "seconds", "5hrs");
    assert_text(1, "ms", "1ms");
    assert_text(3, "us", "3us");
}

static void zero_is_bare_and_negative_values_keep_their_sign(void **state)
{
    (void)state;
    assert_text(0, "bytes", "0");
    assert_text(0, "count", "0");
    assert_text(-1536, "bytes", "-1.50kB");
    assert_text(-7, "count", "-7");
    assert_text(INT64_MIN, "bytes", "-9223372036854775808B");
}

static void counts_and_unknown_units_are_not_scaled(void **state)
{
    (void)state;
    char text[QUANTITY_TEXT_SIZE];
    assert_text(123456789, "count", "123456789");
    assert_text(5000, "parsecs", "5000");
    assert_string_equal(quantity_text_in(5000, "parsecs", "parsecs", text), "5000parsecs");
    assert_string_equal(quantity_text_in(5000, "count", "count", text), "5000");
    assert_string_equal(quantity_text_in(5000, "", "", text), "5000");
}

static void units_are_found_by_any_spelling(void **state)
{
    (void)state;
    static const char *const spellings[] = {"B", "b", "byte", "Bytes", "BYTES"};
    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++)
        assert_text(2048, spellings[i], "2kB");
    assert_text(2048, "kilobytes", "2MB");
    assert_text(3, "GCU", "3GCU");
}

static void a_unit_that_is_too_long_is_cut_at_a_character(void **state)
{
    (void)state;
    char unit[400], text[QUANTITY_TEXT_SIZE];
    for (size_t i = 0; i < sizeof(unit) - 2; i += 2)
        memcpy(unit + i, "\xc3\xbc", 2);
    unit[sizeof(unit) - 2] = '\0';
    quantity_text_in(1, unit, unit, text);
    assert_in_range(strlen(text), QUANTITY_TEXT_SIZE - 3, QUANTITY_TEXT_SIZE - 1);
    assert_memory_equal(text + strlen(text) - 2, "\xc3\xbc", 2);
}

static void one_unit_is_chosen_for_values_close_together(void **state)
{
    (void)state;
    assert_string_equal(quantity_common_unit(2048, 4096, "bytes"), "kB");
    assert_string_equal(quantity_common_unit(2048, 150 * 1024, "bytes"), "kB");
}

static void the_smallest_value_may_shrink_to_a_hundredth(void **state)
{
    (void)state;
    assert_string_equal(quantity_common_unit(20 * 1024, 500ll << 20, "bytes"), "MB");
    assert_string_equal(quantity_common_unit(1024, 500ll << 20, "bytes"), "kB");
    assert_string_equal(quantity_common_unit(1000000, 5000000000, "nanoseconds"), "ms");
    assert_string_equal(quantity_common_unit(0, 5000000000, "nanoseconds"), "s");
    assert_string_equal(quantity_common_unit(3, 300, "count"), "count");
}

static void values_are_converted_between_units_of_a_kind(void **state)
{
    (void)state;
    const char *unit;
    assert_true(quantity_scale(1, "MB", "kB", &unit) == 1024);
    assert_string_equal(unit, "kB");
    assert_true(quantity_scale(3, "seconds", "nanoseconds", &unit) == 3e9);
    assert_string_equal(unit, "ns");
    assert_true(quantity_scale(3, "bytes", "nanoseconds", &unit) == 3);
    assert_string_equal(unit, "B");
}

static void assert_percent(int64_t value, int64_t total, const char *expected)
{
    char text[QUANTITY_TEXT_SIZE];
    assert_string_equal(quantity_percent(value, total, text), expected);
}

static void percentages_have_two_digits_below_one_and_a_round_hundred(void **state)
{
    (void)state;
    assert_percent(1, 3, "33.33%");
    assert_percent(29, 400, " 7.25%");
    assert_percent(-1, 2, "50.00%");
    assert_percent(9996, 10000, "  100%");
    assert_percent(3, 2, "150.00%");
    assert_percent(1, 200, "  0.5%");
    assert_percent(1, 30000, "0.0033%");
    assert_percent(1, 10000000, "1e-05%");
    assert_percent(0, 5, "    0%");
    assert_percent(5, 0, "    0%");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_scaled_by_1024_and_keep_two_decimals),
        cmocka_unit_test(times_are_scaled_up_to_hours),
        cmocka_unit_test(zero_is_bare_and_negative_values_keep_their_sign),
        cmocka_unit_test(counts_and_unknown_units_are_not_scaled),
        cmocka_unit_test(units_are_found_by_any_spelling),
        cmocka_unit_test(a_unit_that_is_too_long_is_cut_at_a_character),
        cmocka_unit_test(one_unit_is_chosen_for_values_close_together),
        cmocka_unit_test(the_smallest_value_may_shrink_to_a_hundredth),
        cmocka_unit_test(values_are_converted_between_units_of_a_kind),
        cmocka_unit_test(percentages_have_two_digits_below_one_and_a_round_hundred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
