/* report_sums_test.c: what a report adds up over samples. */
#include "cli/report.h"
#include "cli/report_sums.h"
#include "tests/cli/stack_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <inttypes.h>
#include <stdio.h>

static const struct report_source_types bytes_of_objects = {.value = 1, .objects = 0};

static struct profile *new_profile(void)
{
    struct profile *profile = stack_profile_new("inuse_objects", "count");
    profile_add_sample_type(profile, "inuse_space", "bytes");
    return profile;
}

static struct profile_sample *add(struct profile *profile, const char *stack, int64_t objects,
                                  int64_t bytes, struct profile_sample_extra extra)
{
    int64_t values[] = {objects, bytes};
    struct profile_sample *sample = stack_profile_add(profile, stack, values);
    sample->extra = extra;
    return sample;
}

static struct report_sums sum_of(const struct profile *profile)
{
    struct report_sums sums = {0};
    for (size_t i = 0; i < profile->sample_count; i++) {
        struct report_sums more = report_sums_of(profile->samples[i], &bytes_of_objects);
        report_sums_add(&sums, &more);
    }
    return sums;
}

static void extras_add_up_but_for_the_shortest_and_longest_lifetime(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    add(profile, "main", 1, 10, (struct profile_sample_extra){.age_sum = 5});
    add(profile, "main", 2, 20,
        (struct profile_sample_extra){.freed_objects = 1.5,
                                      .lifetime_sum = 300,
                                      .lifetime_min = 150,
                                      .lifetime_max = 250,
                                      .inuse_samples = INT64_MAX});
    add(profile, "main", 3, 30,
        (struct profile_sample_extra){.freed_objects = 1,
                                      .lifetime_sum = 200,
                                      .lifetime_min = 100,
                                      .lifetime_max = 200,
                                      .inuse_samples = 1});
    struct report_sums sums = sum_of(profile);
    assert_int_equal(sums.value, 60);
    assert_int_equal(sums.objects, 6);
    assert_true(sums.extra.freed_objects == 2.5);
    assert_int_equal(sums.extra.lifetime_min, 100);
    assert_int_equal(sums.extra.lifetime_max, 250);
    assert_true(sums.extra.inuse_samples == INT64_MAX);
    assert_int_equal(report_sums_mean_lifetime(&sums), 200);
    profile_free(profile);
}

static void a_mean_age_is_that_of_a_byte(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    add(profile, "main", 1, 300, (struct profile_sample_extra){.age_sum = 100});
    add(profile, "main", 10, 100, (struct profile_sample_extra){.age_sum = 200});
    struct report_sums sums = sum_of(profile);
    assert_int_equal(report_sums_mean_age(&sums), (300 * 100 + 100 * 20) / 400);
    profile_free(profile);
}

static void no_object_is_older_than_the_run(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    struct report_source_types types = {.value = 1, .objects = 0, .oldest_age = 80};
    struct profile_sample *sample =
        add(profile, "main", 1, 300, (struct profile_sample_extra){.age_sum = 100});
    struct report_sums sums = report_sums_of(sample, &types);
    assert_int_equal(report_sums_mean_age(&sums), 80);
    profile_free(profile);
}

static void extremes_of_a_file_stay_numbers(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    struct profile_sample_extra extreme = {
        .age_sum = DBL_MAX, .freed_objects = DBL_MIN, .lifetime_sum = DBL_MAX};
    add(profile, "main", 1, INT64_MAX, extreme);
    add(profile, "main", 1, INT64_MIN, extreme);
    struct report_sums sums = sum_of(profile);
    assert_true(sums.byte_age == sums.byte_age);
    assert_true(report_sums_mean_lifetime(&sums) == INT64_MAX);
    assert_true(report_sums_mean_age(&sums) >= 0);
    assert_int_equal(report_sums_mean_age(&(struct report_sums){0}), 0);
    assert_int_equal(report_sums_mean_lifetime(&(struct report_sums){0}), 0);
    profile_free(profile);
}

/* One row a line: "title flat cum". */
static void assert_rows(const struct profile *profile, const struct report_options *options,
                        const char *expected)
{
    char rows[2048] = "";
    size_t used = 0;
    struct report report;
    report_init(&report, profile, options);
    for (size_t i = 0; i < report.row_count; i++)
        used += (size_t)snprintf(rows + used, sizeof(rows) - used, "%s %" PRId64 " %" PRId64 "\n",
                                 report.rows[i].title, report.rows[i].flat, report.rows[i].cum);
    snprintf(rows + used, sizeof(rows) - used, "%" PRId64 "\n", report.total);
    report_done(&report);
    assert_string_equal(rows, expected);
}

static void temporary_objects_are_rounded_once(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    struct report_options options = {.ranking = REPORT_BY_TEMPORARY, .objects_type_index = -1};
    struct profile_sample_extra extra = {.freed_objects = 2, .temporary_objects = 1.4};
    for (int i = 0; i < 5; i++)
        add(profile, "main;f", 3, 30, extra);
    add(profile, "main;g", 8, 80, (struct profile_sample_extra){.freed_objects = 8});
    assert_rows(profile, &options, "f 7 7\nmain 0 7\n7\n");
    profile_free(profile);
}

static void by_age_the_large_and_old_come_first(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    add(profile, "main;tiny_old", 1, 1, (struct profile_sample_extra){.age_sum = 1000});
    add(profile, "main;large_young", 1, 5000, (struct profile_sample_extra){.age_sum = 1});
    add(profile, "main;old", 2, 600, (struct profile_sample_extra){.age_sum = 1800});
    add(profile, "main;half_as_old", 1, 700, (struct profile_sample_extra){.age_sum = 450});
    struct report_options options = {
        .ranking = REPORT_BY_AGE, .sample_type_index = 1, .objects_type_index = 0};
    assert_rows(profile, &options,
                "old 600 600\nhalf_as_old 700 700\nlarge_young 5000 5000\ntiny_old 1 1\n"
                "main 0 6301\n6301\n");
    options.by_cum = true;
    options.node_fraction = 0.01;
    assert_rows(profile, &options,
                "main 0 6301\nold 600 600\nhalf_as_old 700 700\nlarge_young 5000 5000\n6301\n");
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extras_add_up_but_for_the_shortest_and_longest_lifetime),
        cmocka_unit_test(a_mean_age_is_that_of_a_byte),
        cmocka_unit_test(no_object_is_older_than_the_run),
        cmocka_unit_test(extremes_of_a_file_stay_numbers),
        cmocka_unit_test(temporary_objects_are_rounded_once),
        cmocka_unit_test(by_age_the_large_and_old_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
