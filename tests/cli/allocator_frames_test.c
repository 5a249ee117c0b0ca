/* allocator_frames_test.c: what is taken off the leaf end, and what is not. */
#include "cli/allocator_frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "proto/profile.h"

/* A location whose lines have these names, innermost first, NULL-terminated. */
static struct profile_location *location(struct profile *profile, uint64_t address,
                                         const char *const *functions)
{
    struct profile_line lines[4] = {{0}};
    uint32_t count = 0;
    for (; functions[count] != NULL; count++)
        lines[count].function =
            profile_function(profile, functions[count], functions[count], "", 0);
    struct profile_location *made = profile_location(profile, NULL, address);
    profile_set_lines(profile, made, lines, count);
    return made;
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct profile *new_profile(void)
{
    struct profile *profile = profile_new();
    profile_add_sample_type(profile, "alloc_objects", "count");
    return profile;
}

static void inlined_allocators_are_taken_off_the_leaf(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    struct profile_location *stack[] = {
        location(profile, 1, NAMES("calloc", "_dl_new_object")),
        location(profile, 2, NAMES("main")),
    };
    struct profile_sample *sample = profile_add_sample(profile, stack, 2, (int64_t[]){1});
    allocator_frames_trim(profile);
    assert_int_equal(sample->location_count, 2);
    assert_int_equal(sample->locations[0]->line_count, 1);
    assert_string_equal(sample->locations[0]->lines[0].function->name, "_dl_new_object");
    profile_free(profile);
}

static void whole_allocator_frames_are_taken_off_too(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    struct profile_location *stack[] = {
        location(profile, 1, NAMES("__rdl_alloc")),
        location(profile, 2, NAMES("alloc::alloc::alloc")),
        location(profile, 3, NAMES("<alloc::alloc::Global>::alloc_impl", "alloc::vec::push")),
        location(profile, 4, NAMES("app::main")),
    };
    struct profile_sample *sample = profile_add_sample(profile, stack, 4, (int64_t[]){1});
    allocator_frames_trim(profile);
    assert_int_equal(sample->location_count, 2);
    assert_string_equal(sample->locations[0]->lines[0].function->name, "alloc::vec::push");
    profile_free(profile);
}

static void an_allocator_further_out_and_the_last_frame_stay(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    struct profile_location *stack[] = {
        location(profile, 1, NAMES("work", "malloc")),
        location(profile, 2, NAMES("calloc")),
    };
    struct profile_location *alone[] = {location(profile, 3, NAMES("malloc"))};
    struct profile_sample *first = profile_add_sample(profile, stack, 2, (int64_t[]){1});
    struct profile_sample *second = profile_add_sample(profile, alone, 1, (int64_t[]){1});
    struct profile_sample *empty = profile_add_sample(profile, NULL, 0, (int64_t[]){1});
    allocator_frames_trim(profile);
    assert_int_equal(first->location_count, 2);
    assert_int_equal(first->locations[0]->line_count, 2);
    assert_int_equal(second->location_count, 1);
    assert_int_equal(second->locations[0]->line_count, 1);
    assert_int_equal(empty->location_count, 0);
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inlined_allocators_are_taken_off_the_leaf),
        cmocka_unit_test(whole_allocator_frames_are_taken_off_too),
        cmocka_unit_test(an_allocator_further_out_and_the_last_frame_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
