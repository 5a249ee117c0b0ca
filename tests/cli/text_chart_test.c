/* text_chart_test.c: bars and columns in letters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/text_chart.h"

#include <stdlib.h>
#include <string.h>

static void assert_bar(uint64_t value, uint64_t most, unsigned columns, enum chart_style style,
                       const char *expected, unsigned used)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(chart_bar(value, most, columns, style, stream), used);
    fclose(stream);
    assert_string_equal(text, expected);
    free(text);
}

static void assert_row(const uint64_t *values, size_t count, uint64_t most, unsigned row,
                       unsigned height, enum chart_style style, const char *expected)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    chart_columns_row(values, count, most, row, height, style, stream);
    fclose(stream);
    assert_string_equal(text, expected);
    free(text);
}

static void a_bar_is_as_long_as_its_part(void **state)
{
    (void)state;
    assert_bar(0, 8, 4, CHART_BLOCKS, "", 0);
    assert_bar(8, 8, 4, CHART_BLOCKS, "████", 4);
    assert_bar(4, 8, 4, CHART_BLOCKS, "██", 2);
    assert_bar(3, 8, 4, CHART_BLOCKS, "█▌", 2);
    assert_bar(1, 32, 4, CHART_BLOCKS, "▏", 1);
    assert_bar(4, 8, 4, CHART_ASCII, "##", 2);
    assert_bar(3, 8, 4, CHART_ASCII, "##", 2);
}

static void what_is_not_nothing_shows_and_nothing_is_too_long(void **state)
{
    (void)state;
    assert_bar(1, UINT64_MAX, 4, CHART_BLOCKS, "▏", 1);
    assert_bar(1, UINT64_MAX, 4, CHART_ASCII, "#", 1);
    assert_bar(UINT64_MAX - 1, UINT64_MAX, 4, CHART_BLOCKS, "████", 4);
    assert_bar(UINT64_MAX, 1, 4, CHART_ASCII, "####", 4);
    assert_bar(5, 0, 4, CHART_ASCII, "", 0);
}

static void columns_stand_in_rows_from_the_top(void **state)
{
    (void)state;
    static const uint64_t values[] = {0, 1, 8, 12, 16, 0};
    assert_row(values, 6, 16, 0, 2, CHART_BLOCKS, "   ▄█");
    assert_row(values, 6, 16, 1, 2, CHART_BLOCKS, " ▁███");
    assert_row(values, 6, 16, 0, 2, CHART_ASCII, "   ##");
    assert_row(values, 6, 16, 1, 2, CHART_ASCII, " ####");
    assert_row(values, 1, 16, 0, 1, CHART_BLOCKS, "");
    assert_row(values, 6, 0, 0, 1, CHART_BLOCKS, "");
}

static void the_locale_decides(void **state)
{
    (void)state;
    setenv("LC_ALL", "C.UTF-8", 1);
    assert_int_equal(chart_style_of_locale(), CHART_BLOCKS);
    setenv("LC_ALL", "C", 1);
    assert_int_equal(chart_style_of_locale(), CHART_ASCII);
    setenv("LC_ALL", "no such locale", 1);
    assert_int_equal(chart_style_of_locale(), CHART_ASCII);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bar_is_as_long_as_its_part),
        cmocka_unit_test(what_is_not_nothing_shows_and_nothing_is_too_long),
        cmocka_unit_test(columns_stand_in_rows_from_the_top),
        cmocka_unit_test(the_locale_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
