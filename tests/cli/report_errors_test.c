/* report_errors_test.c: how far off the figures of a report may be. */
#include "cli/report.h"
#include "cli/report_errors.h"
#include "tests/cli/stack_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>

static struct profile_sample *add(struct profile *profile, const char *stack, int64_t value,
                                  double variance, int64_t samples)
{
    struct profile_sample *sample = stack_profile_add(profile, stack, &value);
    sample->extra.alloc_space_variance = variance;
    sample->extra.alloc_samples = samples;
    return sample;
}

/* One row a line, by name: "title flat-variance cum-variance", a '>' where it is a bound. */
static void assert_errors(const struct profile *profile, const char *label, const char *expected)
{
    char rows[2048] = "";
    size_t used = 0;
    struct report report;
    struct report_options options = {.objects_type_index = -1, .label = label, .by_cum = true};
    struct report_errors errors = report_errors_find(profile, 0);
    assert_null(errors.missing);
    report_init(&report, profile, &options);
    for (size_t i = 0; i < report.row_count; i++) {
        const struct report_node *node = report.rows[i].node;
        used += (size_t)snprintf(rows + used, sizeof(rows) - used, "%s %s%g %s%g\n",
                                 report.rows[i].title,
                                 report_errors_is_bound(&errors, &node->flat) ? ">" : "",
                                 report_errors_variance(&errors, &node->flat),
                                 report_errors_is_bound(&errors, &node->cum) ? ">" : "",
                                 report_errors_variance(&errors, &node->cum));
    }
    used += (size_t)snprintf(rows + used, sizeof(rows) - used, "%g\n",
                             report_errors_variance(&errors, &report.total_sums));
    report_done(&report);
    assert_string_equal(rows, expected);
}

static void variances_of_a_functions_samples_add_up(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("alloc_space", "bytes");
    add(profile, "main;read;malloc", 50, 9, 20);
    add(profile, "main;read", 7, 4, 10);
    add(profile, "main;write;malloc", 20, 16, 30);
    assert_errors(profile, NULL, "main 0 29\nmalloc 25 25\nread 4 13\nwrite 0 16\n29\n");
    profile_free(profile);
}

static void a_function_that_recurs_counts_once(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("alloc_space", "bytes");
    add(profile, "main;f;g;f;g;f", 10, 4, 10);
    assert_errors(profile, NULL, "f 4 4\ng 0 4\nmain 0 4\n4\n");
    profile_free(profile);
}

static void a_diamond_counts_each_sample_once_at_its_foot(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("alloc_space", "bytes");
    add(profile, "top;left;foot", 30, 4, 10);
    add(profile, "top;right;foot", 20, 9, 10);
    assert_errors(profile, NULL, "foot 13 13\ntop 0 13\nleft 0 4\nright 0 9\n13\n");
    profile_free(profile);
}

static void an_inlined_function_and_its_caller_both_have_the_error(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("alloc_space", "bytes");
    add(profile, "main;run/step", 30, 4, 10);
    assert_errors(profile, NULL, "main 0 4\nrun 0 4\nstep 4 4\n4\n");
    profile_free(profile);
}

static void fewer_than_ten_samples_give_a_lower_bound(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("alloc_space", "bytes");
    add(profile, "main;f", 50, 9, 9);
    add(profile, "main;g", 20, 4, 1);
    /* main has ten; its flat figure is no figure at all. */
    assert_errors(profile, NULL, "main 0 13\nf >9 >9\ng >4 >4\n13\n");
    profile_free(profile);
}

static void at_rate_1_all_is_exact(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("alloc_space", "bytes");
    add(profile, "main", 50, 0, 1);
    profile_add_comment(profile, "# rate 1");
    profile->period = 1;
    assert_errors(profile, NULL, "main 0 0\n0\n");
    /* One that was merged with a sampled one is not. */
    profile->period = 4096;
    assert_errors(profile, NULL, "main >0 >0\n0\n");
    profile_free(profile);
}

static void what_cancels_out_stays_unsure(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("alloc_space", "bytes");
    add(profile, "main;f", 50, 9, 20);
    add(profile, "main;f", -40, 16, 20);
    add(profile, "main;g", 0, 2, 20);
    assert_errors(profile, NULL, "f 25 25\nmain 0 27\n27\n");
    profile_free(profile);
}

static void the_total_of_a_difference_has_the_bases_error(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("alloc_space", "bytes");
    struct profile_label base = {.key = "pprof::base", .str = "true", .num_unit = ""};
    add(profile, "main", 50, 9, 20);
    profile_add_label(profile, add(profile, "main", -40, 16, 20), &base);
    assert_errors(profile, NULL, "main 25 25\n16\n");
    profile_free(profile);
}

static void values_of_a_label_have_errors_too(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("alloc_space", "bytes");
    struct profile_label label = {.key = "thread", .str = "io", .num_unit = ""};
    profile_add_label(profile, add(profile, "main;f", 50, 9, 20), &label);
    profile_add_label(profile, add(profile, "main;g", 30, 4, 20), &label);
    add(profile, "main;f", 10, 1, 2);
    assert_errors(profile, "thread", "io 13 13\n[no thread] >1 >1\n14\n");
    profile_free(profile);
}

static void errors_matter_above_one_percent(void **state)
{
    (void)state;
    struct report_sums sums = {.value = -1000};
    struct profile *profile = stack_profile_new("alloc_space", "bytes");
    struct report_errors errors = report_errors_find(profile, 0);
    sums.extra.alloc_space_variance = 25;
    assert_false(report_errors_matter(&errors, &sums));
    sums.extra.alloc_space_variance = 26;
    assert_true(report_errors_matter(&errors, &sums));
    sums.value = 0;
    sums.extra.alloc_space_variance = 0;
    assert_false(report_errors_matter(&errors, &sums));
    profile_free(profile);
}

static void assert_missing(const char *type, int64_t value, struct profile_sample_extra extra,
                           const char *expected)
{
    struct profile *profile = stack_profile_new(type, "bytes");
    stack_profile_add(profile, "main", &value)->extra = extra;
    const char *missing = report_errors_find(profile, 0).missing;
    if (expected == NULL)
        assert_null(missing);
    else
        assert_string_equal(missing, expected);
    profile_free(profile);
}

static void only_files_and_types_with_errors_have_any(void **state)
{
    (void)state;
    const char *none = "this file carries none of this type";
    struct profile_sample_extra of_bytes = {.peak_space_variance = 4, .peak_samples = 1};
    struct profile_sample_extra exact = {.peak_samples = 1};
    assert_missing("peak_space", 10, of_bytes, NULL);
    assert_missing("peak_space", 10, exact, NULL);
    assert_missing("peak_objects", 10, exact, NULL);
    assert_missing("peak_space", 0, (struct profile_sample_extra){0}, NULL);
    assert_missing("peak_space", 10, (struct profile_sample_extra){0}, none);
    assert_missing("alloc_space", 10, of_bytes, none);
    /* Without the variance of its objects, a file that has errors does not say theirs. */
    assert_missing("peak_objects", 10, of_bytes, none);
    assert_missing("cpu", 10, of_bytes, "only bytes and objects of the heap have errors");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variances_of_a_functions_samples_add_up),
        cmocka_unit_test(a_function_that_recurs_counts_once),
        cmocka_unit_test(a_diamond_counts_each_sample_once_at_its_foot),
        cmocka_unit_test(an_inlined_function_and_its_caller_both_have_the_error),
        cmocka_unit_test(fewer_than_ten_samples_give_a_lower_bound),
        cmocka_unit_test(at_rate_1_all_is_exact),
        cmocka_unit_test(what_cancels_out_stays_unsure),
        cmocka_unit_test(the_total_of_a_difference_has_the_bases_error),
        cmocka_unit_test(values_of_a_label_have_errors_too),
        cmocka_unit_test(errors_matter_above_one_percent),
        cmocka_unit_test(only_files_and_types_with_errors_have_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
