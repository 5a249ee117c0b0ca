/* leak_stacks_test.c: what is in use, stack by stack, and what is suppressed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/leak_stacks.h"
#include "cli/suppressions.h"
#include "tests/cli/stack_profile.h"

#include <stdio.h>

/* A profile of inuse_objects and inuse_space. */
static struct profile *new_profile(void)
{
    struct profile *profile = stack_profile_new("inuse_objects", "count");
    profile_add_sample_type(profile, "inuse_space", "bytes");
    return profile;
}

static struct profile_sample *add(struct profile *profile, const char *stack, int64_t objects,
                                  int64_t bytes)
{
    return stack_profile_add(profile, stack, (int64_t[]){objects, bytes});
}

static const char *frame_text(const struct leak_stacks *leaks, size_t stack, uint32_t frame)
{
    return leaks->texts.texts[leaks->stacks[stack]->frames[frame]]->bytes;
}

/* Suppressions of the given patterns, up to a NULL. */
static struct suppressions fake_suppressions(struct suppression *items, const char *const *patterns)
{
    size_t count = 0;
    for (; patterns[count] != NULL; count++)
        items[count] = (struct suppression){.pattern = patterns[count], .line = count + 1};
    return (struct suppressions){.path = "fake", .items = items, .count = count};
}

static void stacks_that_read_the_same_are_one_whatever_their_labels(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    struct profile_label thread = {.key = "thread", .str = "worker", .num_unit = ""};
    struct profile_sample *sample = add(profile, "main;make", 2, 200);
    sample->extra.inuse_space_variance = 30;
    sample->extra.age_sum = 1e9;
    sample = add(profile, "main;make", 3, 300);
    profile_add_label(profile, sample, &thread);
    sample->extra.inuse_space_variance = 12;
    sample->extra.age_sum = 5e9;
    add(profile, "main;other", 1, 900);
    add(profile, "main", 7, 100);
    struct leak_stacks leaks;
    leak_stacks_init(&leaks, profile, 1, NULL);
    assert_true(leaks.has_objects);
    assert_string_equal(leaks.unit, "bytes");
    assert_int_equal(leaks.count, 3);
    assert_int_equal(leaks.stacks[0]->sum.bytes, 900);
    assert_int_equal(leaks.stacks[1]->sum.bytes, 500);
    assert_int_equal(leaks.stacks[1]->sum.objects, 5);
    assert_true(leaks.stacks[1]->sum.variance == 42);
    assert_true(leaks.stacks[1]->sum.age_sum == 6e9);
    assert_int_equal(leaks.stacks[1]->depth, 2);
    assert_string_equal(frame_text(&leaks, 1, 0), "make /src/all.c:7");
    assert_string_equal(frame_text(&leaks, 1, 1), "main /src/all.c:7");
    assert_int_equal(leaks.stacks[2]->sum.bytes, 100);
    assert_int_equal(leaks.total.bytes, 1500);
    assert_int_equal(leaks.total.objects, 13);
    assert_int_equal(leaks.total.stacks, 3);
    assert_int_equal(leaks.suppressed.stacks, 0);
    leak_stacks_done(&leaks);
    profile_free(profile);
}

static void what_holds_nothing_is_left_out_and_objects_without_bytes_are_not(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    add(profile, "main;freed", 0, 0);
    add(profile, "main;less", -1, -50);
    add(profile, "main;even", 4, 40);
    add(profile, "main;even", -4, -40);
    struct leak_stacks leaks;
    leak_stacks_init(&leaks, profile, 1, NULL);
    assert_int_equal(leaks.count, 0);
    assert_int_equal(leaks.total.bytes, 0);
    assert_false(leak_stacks_exceed(&leaks, 0));
    leak_stacks_done(&leaks);
    add(profile, "main;empty", 1, 0); /* malloc(0) */
    leak_stacks_init(&leaks, profile, 1, NULL);
    assert_int_equal(leaks.count, 1);
    assert_true(leak_stacks_exceed(&leaks, 0));
    assert_false(leak_stacks_exceed(&leaks, 1));
    leak_stacks_done(&leaks);
    profile_free(profile);
}

static void the_limit_itself_is_not_above_it(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    add(profile, "main", 1, 1000);
    struct leak_stacks leaks;
    leak_stacks_init(&leaks, profile, 1, NULL);
    assert_true(leak_stacks_exceed(&leaks, 0));
    assert_true(leak_stacks_exceed(&leaks, 999));
    assert_false(leak_stacks_exceed(&leaks, 1000));
    assert_false(leak_stacks_exceed(&leaks, UINT64_MAX));
    leak_stacks_done(&leaks);
    profile_free(profile);
}

static void sums_beyond_the_range_stay_at_its_end(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    add(profile, "a", INT64_MAX, INT64_MAX);
    add(profile, "a", INT64_MAX, INT64_MAX);
    add(profile, "b", 1, 5);
    struct leak_stacks leaks;
    leak_stacks_init(&leaks, profile, 1, NULL);
    assert_true(leaks.stacks[0]->sum.bytes == INT64_MAX);
    assert_true(leaks.total.bytes == INT64_MAX && leaks.total.objects == INT64_MAX);
    leak_stacks_done(&leaks);
    profile_free(profile);
}

static void a_profile_without_objects_has_bytes_only(void **state)
{
    (void)state;
    struct profile *profile = stack_profile_new("inuse_space", "bytes");
    stack_profile_add(profile, "main", (int64_t[]){8});
    struct leak_stacks leaks;
    leak_stacks_init(&leaks, profile, 0, NULL);
    assert_false(leaks.has_objects);
    assert_int_equal(leaks.total.bytes, 8);
    leak_stacks_done(&leaks);
    profile_free(profile);
}

static void frames_say_what_is_known(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    struct profile_mapping *mapping =
        profile_add_mapping(profile, &(struct profile_mapping){.memory_start = 0x1000,
                                                               .memory_limit = 0x9000,
                                                               .filename = "/usr/lib/libfoo.so.1",
                                                               .build_id = ""});
    struct profile_location *named = profile_location(profile, mapping, 0x1234);
    struct profile_line line = {
        .function = profile_function(profile, "from_symbols", "from_symbols", "", 0)};
    profile_set_lines(profile, named, &line, 1);
    struct profile_location *unnamed = profile_location(profile, mapping, 0x2000);
    struct profile_location *inlining = profile_location(profile, mapping, 0x3000);
    struct profile_line lines[] = {
        {.function = profile_function(profile, "inner", "inner", "/src/inner.h", 0), .line = 3},
        {.function = profile_function(profile, "outer", "outer", "/proc/self/cwd/outer.c", 0)}};
    profile_set_lines(profile, inlining, lines, 2);
    profile_add_sample(profile, (struct profile_location *[]){inlining, named, unnamed}, 3,
                       (int64_t[]){1, 1});
    profile_add_sample(profile, NULL, 0, (int64_t[]){0, 1});
    struct leak_stacks leaks;
    leak_stacks_init(&leaks, profile, 1, NULL);
    static const char *const expected[] = {"inner /src/inner.h:3", "outer outer.c",
                                           "from_symbols (libfoo.so.1)", "libfoo.so.1+0x1000"};
    assert_int_equal(leaks.stacks[0]->depth, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_string_equal(frame_text(&leaks, 0, i), expected[i]);
    assert_string_equal(frame_text(&leaks, 1, 0), "[no stack]");
    leak_stacks_done(&leaks);
    profile_free(profile);
}

static void add_at(struct profile *profile, struct profile_mapping *mapping, uint64_t address,
                   const char *name, const char *system_name, const char *file, int64_t bytes)
{
    struct profile_location *location = profile_location(profile, mapping, address);
    struct profile_line line = {.function = profile_function(profile, name, system_name, file, 0),
                                .line = 1};
    profile_set_lines(profile, location, &line, 1);
    profile_add_sample(profile, &location, 1, (int64_t[]){1, bytes});
}

/* Whether pattern alone suppresses a sample in std::vector<int>::push_back. */
static bool is_suppressed_by(const char *pattern)
{
    struct profile *profile = new_profile();
    struct profile_mapping *mapping =
        profile_add_mapping(profile, &(struct profile_mapping){.memory_start = 0x1000,
                                                               .memory_limit = 0x9000,
                                                               .filename = "/usr/lib/libfoo.so.1",
                                                               .build_id = ""});
    add_at(profile, mapping, 0x1001, "std::vector::push_back", "_ZNSt6vectorIiSaIiEE9push_backERKi",
           "/src/vector.h", 10);
    struct suppression items[1];
    struct suppressions suppressions =
        fake_suppressions(items, (const char *const[]){pattern, NULL});
    struct leak_stacks leaks;
    leak_stacks_init(&leaks, profile, 1, &suppressions);
    bool suppressed = leaks.count == 0;
    assert_int_equal(leaks.suppressed.stacks, suppressed);
    assert_int_equal(leaks.suppressed.bytes, suppressed ? 10 : 0);
    assert_int_equal(leaks.used[0].objects, suppressed);
    leak_stacks_done(&leaks);
    profile_free(profile);
    return suppressed;
}

static void functions_sources_and_modules_can_be_suppressed(void **state)
{
    (void)state;
    assert_true(is_suppressed_by("vector::push_back"));
    assert_true(is_suppressed_by("^std::vector::push_back$"));
    assert_true(is_suppressed_by("_ZNSt6vectorIiSaIiEE9push_backERKi"));
    assert_true(is_suppressed_by("std::vector<int, *>::push_back(int const&)$"));
    assert_true(is_suppressed_by("/src/vector.h"));
    assert_true(is_suppressed_by("libfoo.so"));
    assert_true(is_suppressed_by("^/usr/lib/*.so.1$"));
    assert_false(is_suppressed_by("^vector"));
    assert_false(is_suppressed_by("vector.h:1"));
    assert_false(is_suppressed_by("libbar"));
}

/* As LeakSanitizer: the innermost frame that any of them matches decides, then their order. */
static void the_innermost_frame_decides_which_suppression_is_used(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    add(profile, "main;outer;inner", 1, 100);
    add(profile, "main;outer", 2, 50);
    add(profile, "main;else", 3, 7);
    struct suppression items[4];
    struct suppressions suppressions =
        fake_suppressions(items, (const char *const[]){"outer", "inner", "inn", "none", NULL});
    struct leak_stacks leaks;
    leak_stacks_init(&leaks, profile, 1, &suppressions);
    assert_int_equal(leaks.used[0].bytes, 50);
    assert_int_equal(leaks.used[1].bytes, 100);
    assert_int_equal(leaks.used[2].stacks, 0);
    assert_int_equal(leaks.used[3].stacks, 0);
    assert_int_equal(leaks.suppressed.bytes, 150);
    assert_int_equal(leaks.suppressed.stacks, 2);
    assert_int_equal(leaks.total.bytes, 7);
    leak_stacks_done(&leaks);
    profile_free(profile);
}

static void suppressions_without_any_suppress_nothing(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    add(profile, "main", 1, 100);
    struct suppression items[1];
    struct suppressions suppressions = fake_suppressions(items, (const char *const[]){NULL});
    struct leak_stacks leaks;
    leak_stacks_init(&leaks, profile, 1, &suppressions);
    assert_int_equal(leaks.count, 1);
    assert_int_equal(leaks.suppressed.stacks, 0);
    leak_stacks_done(&leaks);
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_that_read_the_same_are_one_whatever_their_labels),
        cmocka_unit_test(what_holds_nothing_is_left_out_and_objects_without_bytes_are_not),
        cmocka_unit_test(the_limit_itself_is_not_above_it),
        cmocka_unit_test(sums_beyond_the_range_stay_at_its_end),
        cmocka_unit_test(a_profile_without_objects_has_bytes_only),
        cmocka_unit_test(frames_say_what_is_known),
        cmocka_unit_test(functions_sources_and_modules_can_be_suppressed),
        cmocka_unit_test(the_innermost_frame_decides_which_suppression_is_used),
        cmocka_unit_test(suppressions_without_any_suppress_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
