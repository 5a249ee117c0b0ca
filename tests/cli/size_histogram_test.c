/* size_histogram_test.c: the comment of allocation sizes, there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/size_histogram.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void each_class_comes_back(void **state)
{
    (void)state;
    struct size_histogram histogram = {0}, back;
    for (unsigned k = 0; k < SIZE_HISTOGRAM_CLASSES; k++)
        histogram.classes[k] = (struct size_class){UINT64_MAX - k, UINT64_MAX - 100 - k};
    char *text = size_histogram_text(&histogram);
    assert_true(size_histogram_parse(text, &back));
    assert_memory_equal(&back, &histogram, sizeof(back));
    free(text);
}

static void classes_without_anything_are_left_out(void **state)
{
    (void)state;
    struct size_histogram histogram = {0}, back;
    char *text = size_histogram_text(&histogram);
    assert_string_equal(text, "");
    assert_true(size_histogram_parse(text, &back));
    assert_memory_equal(&back, &histogram, sizeof(back));
    free(text);
    histogram.classes[0] = (struct size_class){3, 0}; /* malloc(0) */
    histogram.classes[10] = (struct size_class){2, 2048};
    text = size_histogram_text(&histogram);
    assert_string_equal(text, "0:3:0 10:2:2048");
    assert_true(size_histogram_parse(text, &back));
    assert_memory_equal(&back, &histogram, sizeof(back));
    free(text);
}

static void damage_leaves_an_empty_histogram(void **state)
{
    (void)state;
    static const char *const cases[] = {
        " ",
        "x",
        "1",
        "1:",
        "1:2",
        "1:2:",
        "1:2:3 ",
        " 1:2:3",
        "1:2:3:4",
        "1:2:3  2:2:3",
        "65:1:1",
        "1:2:3 1:2:3",
        "2:2:3 1:2:3",
        "1:0:0",
        "-1:2:3",
        "1:-2:3",
        "1:2:0x3",
        "1:2:3\n",
        "1:2:3,2:2:3",
        "1 2 3",
        "1:18446744073709551616:1",
        "18446744073709551617:1:1",
    };
    struct size_histogram empty = {0}, back;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        memset(&back, 0xff, sizeof(back));
        if (size_histogram_parse(cases[i], &back))
            fail_msg("'%s' was taken", cases[i]);
        assert_memory_equal(&back, &empty, sizeof(back));
    }
}

/* Each beginning of a text, and the text with any one byte changed: never a crash, and what is
 * taken is what would be written. */
static void any_change_is_refused_or_means_what_it_says(void **state)
{
    (void)state;
    static const char text[] = "0:3:0 10:22:20480 64:1:18446744073709551615";
    static const char bytes[] = "09: -x\n";
    for (size_t at = 0; at < sizeof(text); at++) {
        for (size_t k = 0; k < sizeof(bytes); k++) {
            char changed[sizeof(text)];
            struct size_histogram histogram, again;
            memcpy(changed, text, sizeof(text));
            changed[at] = bytes[k];
            changed[sizeof(text) - 1] = '\0';
            if (!size_histogram_parse(changed, &histogram))
                continue;
            char *written = size_histogram_text(&histogram);
            assert_true(size_histogram_parse(written, &again));
            assert_memory_equal(&again, &histogram, sizeof(again));
            free(written);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_class_comes_back),
        cmocka_unit_test(classes_without_anything_are_left_out),
        cmocka_unit_test(damage_leaves_an_empty_histogram),
        cmocka_unit_test(any_change_is_refused_or_means_what_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
