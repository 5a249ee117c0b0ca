/* frame_filter_test.c: which frames a report shows. */
#include "cli/frame_filter.h"
#include "cli/frame_names.h"
#include "tests/cli/stack_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

/* What is shown of a stack, root first, inlined frames after a '/'. */
static void assert_shown(const char *stack, const char *drop, const char *keep,
                         const char *expected)
{
    int64_t value = 1;
    char shown[256] = "";
    size_t used = 0;
    struct profile *profile = stack_profile_new("space", "bytes");
    const struct profile_sample *sample = stack_profile_add(profile, stack, &value);
    profile->drop_frames = profile_intern(profile, drop);
    profile->keep_frames = profile_intern(profile, keep);
    struct frame_names *names = frame_names_new(profile);
    struct frame_filter *filter = frame_filter_new(profile, names);
    uint32_t first = frame_filter_first_location(filter, sample);
    for (uint32_t i = sample->location_count; i > first; i--) {
        const struct profile_location *location = sample->locations[i - 1];
        uint32_t first_line = frame_filter_first_line(filter, location);
        for (uint32_t line = location->line_count; line > first_line; line--) {
            const char *separator = line < location->line_count  ? "/"
                                    : i < sample->location_count ? ";"
                                                                 : "";
            used += (size_t)snprintf(shown + used, sizeof(shown) - used, "%s%s", separator,
                                     location->lines[line - 1].function->name);
        }
    }
    assert_string_equal(shown, expected);
    frame_filter_free(filter);
    frame_names_free(names);
    profile_free(profile);
}

static void all_is_shown_without_drop_frames(void **state)
{
    (void)state;
    assert_shown("main;run/step;malloc", "", "", "main;run/step;malloc");
    assert_shown("main;malloc", "", "malloc", "main;malloc");
}

static void from_the_first_match_on_everything_towards_the_leaf_goes(void **state)
{
    (void)state;
    assert_shown("main;run;malloc", "malloc|calloc", "", "main;run");
    assert_shown("main;malloc;hook;run", "malloc", "", "main");
    assert_shown("main;malloc;run;malloc;x", "malloc", "", "main");
}

static void patterns_match_whole_names(void **state)
{
    (void)state;
    assert_shown("main;my_malloc", "malloc", "", "main;my_malloc");
    assert_shown("main;malloc2", "malloc", "", "main;malloc2");
    assert_shown("main;malloc2", "malloc.*", "", "main");
}

static void nothing_goes_before_the_first_other_frame(void **state)
{
    (void)state;
    assert_shown("malloc;main;malloc;x", "malloc", "", "malloc;main");
    assert_shown("malloc", "malloc", "", "malloc");
    assert_shown("malloc;calloc", "malloc|calloc", "", "malloc;calloc");
}

static void keep_frames_are_never_dropped(void **state)
{
    (void)state;
    assert_shown("main;runtime.panic;x", "runtime\\..*", "runtime\\.panic", "main;runtime.panic;x");
    assert_shown("main;runtime.call", "runtime\\..*", "runtime\\.panic", "main");
}

static void what_was_inlined_into_a_shown_frame_goes_alone(void **state)
{
    (void)state;
    assert_shown("main;run/malloc/x;y", "malloc", "", "main;run");
    assert_shown("main;malloc/x;y", "malloc", "", "main");
    /* At the root there is nothing to cut off from, but what was inlined goes as everywhere. */
    assert_shown("run/malloc;main", "malloc", "", "run;main");
}

static void parameters_do_not_count(void **state)
{
    (void)state;
    assert_shown("main;f(int);x", "f", "", "main");
    assert_shown("main;(anonymous namespace) f(int);x", "\\(anonymous namespace\\) f", "", "main");
    assert_shown("main;.callable;x", "callable", "", "main");
}

static void with_a_broken_pattern_all_is_shown(void **state)
{
    (void)state;
    assert_shown("main;malloc", "mal(loc", "", "main;malloc");
    assert_shown("main;malloc", "malloc", "keep(", "main;malloc");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_shown_without_drop_frames),
        cmocka_unit_test(from_the_first_match_on_everything_towards_the_leaf_goes),
        cmocka_unit_test(patterns_match_whole_names),
        cmocka_unit_test(nothing_goes_before_the_first_other_frame),
        cmocka_unit_test(keep_frames_are_never_dropped),
        cmocka_unit_test(what_was_inlined_into_a_shown_frame_goes_alone),
        cmocka_unit_test(parameters_do_not_count),
        cmocka_unit_test(with_a_broken_pattern_all_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
