/* report_test.c: the table of a profile's functions. */
#include "cli/report.h"
#include "tests/cli/stack_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>

static void add(struct profile *profile, const char *stack, int64_t value)
{
    stack_profile_add(profile, stack, &value);
}

/* One row a line: "title flat cum", with "i" or "p" behind what is inlined or partly so. */
static void assert_rows(const struct profile *profile, const struct report_options *options,
                        const char *expected)
{
    static const char *const marks[] = {"", " i", " p"};
    char rows[2048] = "";
    size_t used = 0;
    struct report report;
    report_init(&report, profile, options);
    for (size_t i = 0; i < report.row_count; i++) {
        const struct report_row *row = &report.rows[i];
        used += (size_t)snprintf(rows + used, sizeof(rows) - used, "%s %" PRId64 " %" PRId64 "%s\n",
                                 row->title, row->flat, row->cum, marks[row->inlining]);
    }
    report_done(&report);
    assert_string_equal(rows, expected);
}

static void flat_is_the_leaf_and_cum_the_whole_stack(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add(profile, "main;read;malloc", 50);
    add(profile, "main;read", 7);
    add(profile, "main;write;malloc", 20);
    assert_rows(profile, &(struct report_options){0},
                "malloc 70 70\nread 7 57\nmain 0 77\nwrite 0 20\n");
    assert_rows(profile, &(struct report_options){.by_cum = true},
                "main 0 77\nmalloc 70 70\nread 7 57\nwrite 0 20\n");
    profile_free(profile);
}

static void recursion_counts_once(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add(profile, "main;f;g;f;g;f", 10);
    assert_rows(profile, &(struct report_options){0}, "f 10 10\ng 0 10\nmain 0 10\n");
    profile_free(profile);
}

static void ties_are_sorted_by_name(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add(profile, "main;c", 10);
    add(profile, "main;a", 10);
    add(profile, "main;b", -10);
    assert_rows(profile, &(struct report_options){0}, "a 10 10\nb -10 -10\nc 10 10\nmain 0 10\n");
    profile_free(profile);
}

static void what_cancels_out_is_left_out(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add(profile, "main;f;a", 10);
    add(profile, "main;f;b", -10);
    add(profile, "main", 3);
    assert_rows(profile, &(struct report_options){0}, "a 10 10\nb -10 -10\nmain 3 3\n");
    profile_free(profile);
}

static void small_functions_are_dropped_and_the_largest_shown(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    struct report report;
    add(profile, "main;large", 900);
    add(profile, "main;middle", 90);
    add(profile, "main;limit", 10);
    add(profile, "main;small", 9);
    struct report_options options = {.node_fraction = 0.01, .node_count = 2};
    report_init(&report, profile, &options);
    assert_int_equal(report.total, 1009);
    assert_int_equal(report.row_count, 2);
    assert_int_equal(report.kept_count, 4);
    assert_int_equal(report.dropped_count, 1);
    report_done(&report);
    assert_rows(profile, &options, "large 900 900\nmiddle 90 90\n");
    profile_free(profile);
}

static void functions_are_labelled_by_how_they_are_called(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add(profile, "main/always/both", 10);
    add(profile, "main;both", 10);
    add(profile, "main;never", 10);
    assert_rows(profile, &(struct report_options){0},
                "both 20 20 p\nnever 10 10\nalways 0 10 i\nmain 0 30\n");
    profile_free(profile);
}

static void only_callers_that_are_shown_decide_about_the_label(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add(profile, "main;outer/f", 1000);
    add(profile, "other;f", 40);
    struct report_options all = {0};
    struct report_options two = {.node_count = 2};
    assert_rows(profile, &all, "f 1040 1040 p\nmain 0 1000\nother 0 40\nouter 0 1000\n");
    /* main calls f now: over outer, where f was inlined. */
    assert_rows(profile, &two, "f 1040 1040 i\nmain 0 1000\n");
    profile_free(profile);
}

static void rare_callers_do_not_count_for_the_label(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add(profile, "main/f", 100000);
    add(profile, "main;f", 99);
    /* A caller that inlines here and calls there counts as calling, however rarely. */
    assert_rows(profile, &(struct report_options){0}, "f 100099 100099\nmain 0 100099\n");
    profile_free(profile);
    profile = stack_profile_new("space", "bytes");
    add(profile, "main/f", 100000);
    add(profile, "other;f", 99);
    assert_rows(profile, &(struct report_options){0},
                "f 100099 100099 i\nmain 0 100000\nother 0 99\n");
    profile_free(profile);
}

static void lines_are_rows_of_their_own(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add(profile, "main;f", 10);
    assert_rows(profile, &(struct report_options){.by_lines = true},
                "f /src/all.c:7 10 10\nmain /src/all.c:7 0 10\n");
    profile_free(profile);
}

static void code_without_a_name_is_one_row_per_file(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add(profile, "@0x10", 5);
    assert_rows(profile, &(struct report_options){0}, "<unknown> 5 5\n");
    profile_add_mapping(profile, &(struct profile_mapping){.memory_limit = 0x1000,
                                                           .filename = "/lib/libfoo.so",
                                                           .build_id = ""});
    add(profile, "@0x20;@0x30", 10);
    add(profile, "@0x40", 1);
    assert_rows(profile, &(struct report_options){0}, "[libfoo.so] 11 11\n<unknown> 5 5\n");
    profile_free(profile);
}

static void dropped_frames_give_their_value_to_the_caller(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add(profile, "main;f;malloc", 10);
    profile->drop_frames = profile_intern(profile, "malloc");
    assert_rows(profile, &(struct report_options){0}, "f 10 10\nmain 0 10\n");
    profile_free(profile);
}

static void an_empty_profile_has_no_rows(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    assert_rows(profile, &(struct report_options){.node_fraction = 0.005, .node_count = 30}, "");
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_is_the_leaf_and_cum_the_whole_stack),
        cmocka_unit_test(recursion_counts_once),
        cmocka_unit_test(ties_are_sorted_by_name),
        cmocka_unit_test(what_cancels_out_is_left_out),
        cmocka_unit_test(small_functions_are_dropped_and_the_largest_shown),
        cmocka_unit_test(functions_are_labelled_by_how_they_are_called),
        cmocka_unit_test(only_callers_that_are_shown_decide_about_the_label),
        cmocka_unit_test(rare_callers_do_not_count_for_the_label),
        cmocka_unit_test(lines_are_rows_of_their_own),
        cmocka_unit_test(code_without_a_name_is_one_row_per_file),
        cmocka_unit_test(dropped_frames_give_their_value_to_the_caller),
        cmocka_unit_test(an_empty_profile_has_no_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
