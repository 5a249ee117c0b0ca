/* folded_test.c: a profile as folded stacks. */
#include "cli/folded.h"
#include "tests/cli/stack_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

static void add(struct profile *profile, const char *stack, int64_t value)
{
    stack_profile_add(profile, stack, &value);
}

static void assert_folded(const struct profile *profile, const char *expected)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_true(folded_write(profile, 0, stream));
    fclose(stream);
    assert_string_equal(text, expected);
    free(text);
}

static void stacks_are_written_root_first_and_merged(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add(profile, "main;run/step;malloc", 5);
    add(profile, "main", 1);
    add(profile, "main;run/step;malloc", 7);
    assert_folded(profile, "main 1\nmain;run;step;malloc 12\n");
    profile_free(profile);
}

static void lines_are_sorted_as_text(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add(profile, "b", 1);
    add(profile, "a b", 2);
    add(profile, "a;c", 3);
    add(profile, "a", 4);
    add(profile, "ab", 5);
    assert_folded(profile, "a 4\na b 2\na;c 3\nab 5\nb 1\n");
    profile_free(profile);
}

static void zeros_are_left_out_and_negative_values_written(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add(profile, "a", 0);
    add(profile, "b", -5);
    add(profile, "c", 5);
    add(profile, "c", -5);
    assert_folded(profile, "b -5\n");
    profile_free(profile);
}

static void add_function(struct profile *profile, const char *name, int64_t value)
{
    struct profile_location *location = profile_add_location(profile, NULL, 0);
    struct profile_line line = {.function = profile_function(profile, name, name, "", 0)};
    profile_set_lines(profile, location, &line, 1);
    profile_add_sample(profile, &location, 1, &value);
}

static void names_that_would_break_a_line_are_changed(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add_function(profile, "a;b", 1);
    add_function(profile, "c\nd\re\tf", 2);
    add_function(profile, " g 12 ", 3);
    add_function(profile,
                 "h\xe2\x80\xa8"
                 "i\xc2\x85j",
                 4);
    add_function(profile, "  ", 5);
    add_function(profile, "\xc3\xbc;", 6);
    assert_folded(profile, "[unknown] 5\na:b 1\nc d e f 2\ng 12 3\nh i j 4\n\xc3\xbc: 6\n");
    profile_free(profile);
}

static void names_that_become_equal_are_merged(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add_function(profile, "a;b", 1);
    add_function(profile, "a:b", 2);
    assert_folded(profile, "a:b 3\n");
    profile_free(profile);
}

static void nothing_is_lost_that_has_no_name_or_no_stack(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add(profile, "@0x1234;main", 1);
    add(profile, "", 2);
    add_function(profile, "", 3);
    assert_folded(profile, "0x1234;main 1\n[no stack] 2\n[unknown] 3\n");
    profile_free(profile);
}

static void frames_that_the_profile_drops_are_left_out(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add(profile, "main;malloc;hook", 3);
    profile->drop_frames = profile_intern(profile, "malloc");
    assert_folded(profile, "main 3\n");
    profile_free(profile);
}

static void sums_stay_within_their_range(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    add(profile, "a", INT64_MAX);
    add(profile, "a", 1);
    add(profile, "b", INT64_MIN);
    add(profile, "b", -1);
    assert_folded(profile, "a 9223372036854775807\nb -9223372036854775808\n");
    profile_free(profile);
}

static void a_stream_that_fails_is_reported(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("space", "bytes");
    FILE *full = fopen("/dev/full", "w");
    add(profile, "a", 1);
    setvbuf(full, NULL, _IONBF, 0);
    assert_false(folded_write(profile, 0, full));
    fclose(full);
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_are_written_root_first_and_merged),
        cmocka_unit_test(lines_are_sorted_as_text),
        cmocka_unit_test(zeros_are_left_out_and_negative_values_written),
        cmocka_unit_test(names_that_would_break_a_line_are_changed),
        cmocka_unit_test(names_that_become_equal_are_merged),
        cmocka_unit_test(nothing_is_lost_that_has_no_name_or_no_stack),
        cmocka_unit_test(frames_that_the_profile_drops_are_left_out),
        cmocka_unit_test(sums_stay_within_their_range),
        cmocka_unit_test(a_stream_that_fails_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
