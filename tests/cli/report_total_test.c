/* report_total_test.c: what 100% of a report is. */
#include "cli/mapping_groups.h"
#include "cli/report_total.h"
#include "tests/cli/stack_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int64_t total_of(const struct profile *profile)
{
    struct mapping_groups *groups = mapping_groups_new(profile);
    bool of_base;
    int64_t total = report_total(profile, groups, 0, &of_base);
    mapping_groups_free(groups);
    return total;
}

static struct profile_sample *add(struct profile *profile, const char *stack, int64_t value)
{
    return stack_profile_add(profile, stack, &value);
}

static void all_samples_count_those_without_frames_too(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    assert_int_equal(total_of(profile), 0);
    add(profile, "main;f", 30);
    add(profile, "", 12);
    assert_int_equal(total_of(profile), 42);
    profile_free(profile);
}

static void negative_values_count_by_their_magnitude(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add(profile, "main;f", 30);
    add(profile, "main;g", -12);
    assert_int_equal(total_of(profile), 42);
    profile_free(profile);
}

static void equal_stacks_of_both_signs_cancel_out(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add(profile, "main;f", 30);
    add(profile, "main;f", -12);
    assert_int_equal(total_of(profile), 18);
    profile_free(profile);
}

static void labels_keep_samples_apart(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    struct profile_label first = {.key = "k", .str = "v", .num_unit = ""};
    struct profile_label second = {.key = "k", .num = 7, .num_unit = "bytes"};
    struct profile_label nothing = {.key = "k", .num = 0, .num_unit = ""};
    profile_add_label(profile, add(profile, "main", 30), &first);
    profile_add_label(profile, add(profile, "main", -12), &second);
    assert_int_equal(total_of(profile), 42);
    add(profile, "main;f", 5);
    profile_add_label(profile, add(profile, "main;f", -5), &nothing);
    assert_int_equal(total_of(profile), 42);
    profile_free(profile);
}

static void of_a_difference_the_base_is_the_whole(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    struct profile_label base = {.key = "pprof::base", .str = "true", .num_unit = ""};
    add(profile, "main;f", 30);
    profile_add_label(profile, add(profile, "main;f", -20), &base);
    assert_int_equal(total_of(profile), 20);
    profile_free(profile);
}

static void sums_wrap_around(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add(profile, "main;f", INT64_MAX);
    add(profile, "main;g", 2);
    assert_true(total_of(profile) == INT64_MIN + 1);
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_samples_count_those_without_frames_too),
        cmocka_unit_test(negative_values_count_by_their_magnitude),
        cmocka_unit_test(equal_stacks_of_both_signs_cancel_out),
        cmocka_unit_test(labels_keep_samples_apart),
        cmocka_unit_test(of_a_difference_the_base_is_the_whole),
        cmocka_unit_test(sums_wrap_around),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
