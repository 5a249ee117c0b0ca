/* report_labels_test.c: samples by the value of one of their labels. */
#include "cli/report.h"
#include "cli/report_labels.h"
#include "tests/cli/stack_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>

static void add(struct profile *profile, int64_t value, const struct profile_label *label)
{
    struct profile_sample *sample = stack_profile_add(profile, "main;f", &value);
    if (label != NULL)
        profile_add_label(profile, sample, label);
}

static void add_number(struct profile *profile, int64_t value, const char *key, int64_t number,
                       const char *unit)
{
    struct profile_label label = {.key = key, .num = number, .num_unit = unit};
    add(profile, value, &label);
}

static void add_text(struct profile *profile, int64_t value, const char *key, const char *text)
{
    struct profile_label label = {.key = key, .str = text, .num_unit = ""};
    add(profile, value, &label);
}

/* One row a line: "title value"; flat and cum are alike. */
static void assert_rows(const struct profile *profile, const char *key, const char *expected)
{
    char rows[2048] = "";
    size_t used = 0;
    struct report report;
    report_init(&report, profile, &(struct report_options){.objects_type_index = -1, .label = key});
    for (size_t i = 0; i < report.row_count; i++) {
        const struct report_row *row = &report.rows[i];
        assert_true(row->flat == row->cum);
        used += (size_t)snprintf(rows + used, sizeof(rows) - used, "%s %" PRId64 "\n", row->title,
                                 row->flat);
    }
    report_done(&report);
    assert_string_equal(rows, expected);
}

static void each_value_is_a_row_and_so_is_none(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add_text(profile, 10, "thread", "io");
    add_text(profile, 20, "thread", "main");
    add_text(profile, 30, "thread", "io");
    add_text(profile, 7, "other", "io");
    add(profile, 2, NULL);
    assert_rows(profile, "thread", "io 40\nmain 20\n[no thread] 9\n");
    profile_free(profile);
}

static void numbers_are_shown_with_their_unit(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add_number(profile, 90, "bytes", 96, "bytes");
    add_number(profile, 80, "bytes", 1536, "bytes");
    add_number(profile, 70, "bytes", 1152, "bytes"); /* 1.125kB */
    add_number(profile, 60, "bytes", 1153, "bytes");
    add_number(profile, 50, "bytes", 8, ""); /* in what the key names */
    add_number(profile, 40, "bytes", -5, "bytes");
    add_number(profile, 30, "bytes", 0, "bytes");
    assert_rows(profile, "bytes", "96B 90\n1.50kB 80\n1152B 70\n1153B 60\n8B 50\n-5B 40\n0 30\n");
    profile_free(profile);
}

static void numbers_without_unit_are_bare(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add_number(profile, 30, "tid", 4211, "");
    add_number(profile, 20, "tid", INT64_MAX, "");
    add_number(profile, 10, "tid", 0, ""); /* says nothing */
    assert_rows(profile, "tid", "4211 30\n9223372036854775807 20\n[no tid] 10\n");
    profile_free(profile);
}

static void texts_that_look_like_another_value_are_rows_of_their_own(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add_text(profile, 50, "k", "[no k]");
    add_text(profile, 40, "k", "7");
    add_number(profile, 30, "k", 7, "");
    add(profile, 20, NULL);
    assert_rows(profile, "k", "[no k] 50\n7 40\n7 30\n[no k] 20\n");
    profile_free(profile);
}

static void the_keys_that_there_are_can_be_told(void **state)
{
    (void)state;
    char keys[REPORT_LABELS_KEYS_SIZE];
    struct profile *profile = stack_profile_new("space", "bytes");
    assert_string_equal(report_labels_keys(profile, keys), "");
    assert_false(report_labels_has(profile, "thread"));
    add_text(profile, 1, "thread", "io");
    add_number(profile, 1, "tid", 1, "");
    add_text(profile, 1, "thread", "main");
    assert_string_equal(report_labels_keys(profile, keys), "thread, tid");
    assert_true(report_labels_has(profile, "thread"));
    char key[REPORT_LABELS_KEYS_SIZE + 1];
    memset(key, 'x', sizeof(key) - 1);
    key[sizeof(key) - 1] = '\0';
    add_text(profile, 1, key, "too long");
    add_text(profile, 1, "k", "v");
    assert_string_equal(report_labels_keys(profile, keys), "thread, tid, k");
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_value_is_a_row_and_so_is_none),
        cmocka_unit_test(numbers_are_shown_with_their_unit),
        cmocka_unit_test(numbers_without_unit_are_bare),
        cmocka_unit_test(texts_that_look_like_another_value_are_rows_of_their_own),
        cmocka_unit_test(the_keys_that_there_are_can_be_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
