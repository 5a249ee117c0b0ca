/* profile_test.c: building the profile model. */
#include "proto/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void a_new_profile_is_empty_and_its_texts_are_never_null(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    assert_int_equal(profile->sample_count, 0);
    assert_int_equal(profile->sample_type_count, 0);
    assert_string_equal(profile->default_sample_type, "");
    assert_string_equal(profile->period_type.type, "");
    assert_string_equal(profile->period_type.unit, "");
    assert_string_equal(profile->drop_frames, "");
    assert_string_equal(profile->keep_frames, "");
    profile_free(profile);
    profile_free(NULL);
}

static void equal_texts_are_the_same_pointer(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    char text[] = "malloc";
    const char *interned = profile_intern(profile, text);
    memset(text, 'x', 3);
    assert_string_equal(interned, "malloc");
    assert_ptr_equal(profile_intern(profile, "malloc"), interned);
    assert_ptr_equal(profile_intern_length(profile, "malloc_usable_size", 6), interned);
    assert_ptr_equal(profile_intern(profile, NULL), profile_intern(profile, ""));
    assert_string_equal(profile_intern_length(profile, "a\xffz", 3), "a\xef\xbf\xbdz");
    profile_free(profile);
}

static void functions_are_one_by_name_file_and_line(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    struct profile_function *function = profile_function(profile, "f", "_Z1fv", "f.cc", 3);
    assert_ptr_equal(profile_function(profile, "f", "_Z1fv", "f.cc", 3), function);
    assert_ptr_not_equal(profile_function(profile, "g", "_Z1fv", "f.cc", 3), function);
    assert_ptr_not_equal(profile_function(profile, "f", "_Z1fi", "f.cc", 3), function);
    assert_ptr_not_equal(profile_function(profile, "f", "_Z1fv", "g.cc", 3), function);
    assert_ptr_not_equal(profile_function(profile, "f", "_Z1fv", "f.cc", 4), function);
    assert_ptr_not_equal(profile_function(profile, "_Z1fv", "f", "f.cc", 3), function);
    assert_int_equal(profile->function_count, 6);
    assert_ptr_equal(profile->functions[function->index], function);
    profile_free(profile);
}

static void locations_are_one_by_mapping_and_address(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    struct profile_mapping given = {.memory_start = 0x1000, .memory_limit = 0x2000};
    struct profile_mapping *first = profile_add_mapping(profile, &given);
    struct profile_mapping *second = profile_add_mapping(profile, &given);
    assert_string_equal(first->filename, "");
    assert_string_equal(first->build_id, "");
    struct profile_location *location = profile_location(profile, first, 0x1234);
    assert_ptr_equal(profile_location(profile, first, 0x1234), location);
    assert_ptr_not_equal(profile_location(profile, second, 0x1234), location);
    assert_ptr_not_equal(profile_location(profile, NULL, 0x1234), location);
    assert_ptr_not_equal(profile_location(profile, first, 0x1235), location);
    assert_int_equal(profile->location_count, 4);
    struct profile_location *fresh = profile_add_location(profile, first, 0x1234);
    assert_ptr_not_equal(fresh, location);
    assert_ptr_equal(profile_location(profile, first, 0x1234), location);
    struct profile_location *early = profile_add_location(profile, second, 0x7777);
    assert_ptr_equal(profile_location(profile, second, 0x7777), early);
    for (uint32_t i = 0; i < profile->location_count; i++)
        assert_int_equal(profile->locations[i]->index, i);
    profile_free(profile);
}

static void lines_are_copied_and_can_be_replaced(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    struct profile_location *location = profile_location(profile, NULL, 1);
    assert_int_equal(location->line_count, 0);
    struct profile_line lines[] = {
        {.function = profile_function(profile, "inner", "inner", "", 0), .line = 1, .column = 2},
        {.function = profile_function(profile, "outer", "outer", "", 0), .line = 3},
    };
    profile_set_lines(profile, location, lines, 2);
    lines[0].line = 99;
    assert_int_equal(location->line_count, 2);
    assert_int_equal(location->lines[0].line, 1);
    assert_int_equal(location->lines[0].column, 2);
    assert_string_equal(location->lines[1].function->name, "outer");
    profile_set_lines(profile, location, lines + 1, 1);
    assert_int_equal(location->line_count, 1);
    assert_string_equal(location->lines[0].function->name, "outer");
    profile_set_lines(profile, location, NULL, 0);
    assert_int_equal(location->line_count, 0);
    profile_free(profile);
}

static void samples_keep_their_stacks_values_and_labels(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    profile_add_sample_type(profile, "alloc_objects", "count");
    profile_add_sample_type(profile, "alloc_space", "bytes");
    struct profile_location *stack[] = {profile_location(profile, NULL, 1),
                                        profile_location(profile, NULL, 2)};
    int64_t values[] = {INT64_MIN, INT64_MAX};
    struct profile_sample *sample = profile_add_sample(profile, stack, 2, values);
    struct profile_sample *empty = profile_add_sample(profile, NULL, 0, values);
    stack[0] = stack[1];
    memset(values, 0, sizeof(values));
    for (int i = 0; i < 100; i++) {
        char key[16];
        snprintf(key, sizeof(key), "key%d", i);
        struct profile_label label = {.key = key, .num = i, .num_unit = "bytes"};
        if (i % 2)
            label = (struct profile_label){.key = key, .str = "text"};
        profile_add_label(profile, sample, &label);
    }
    assert_int_equal(sample->locations[0]->address, 1);
    assert_true(sample->values[0] == INT64_MIN && sample->values[1] == INT64_MAX);
    assert_int_equal(sample->label_count, 100);
    for (int i = 0; i < 100; i++) {
        const struct profile_label *label = &sample->labels[i];
        assert_int_equal(atoi(label->key + 3), i);
        if (i % 2) {
            assert_string_equal(label->str, "text");
            assert_string_equal(label->num_unit, "");
        } else {
            assert_null(label->str);
            assert_int_equal(label->num, i);
            assert_string_equal(label->num_unit, "bytes");
        }
    }
    assert_int_equal(empty->location_count, 0);
    assert_int_equal(empty->label_count, 0);
    assert_int_equal(profile->sample_count, 2);
    profile_free(profile);
}

static void elements_stay_where_they_are_while_the_profile_grows(void **state)
{
    (void)state;
    enum { COUNT = 50000 };
    struct profile *profile = profile_new();
    struct profile_function *first = profile_function(profile, "first", "", "", 0);
    for (int i = 0; i < COUNT; i++) {
        char name[32];
        snprintf(name, sizeof(name), "function %d", i);
        profile_function(profile, name, name, "", i);
        profile_location(profile, NULL, (uint64_t)i);
        profile_add_comment(profile, name);
    }
    assert_string_equal(first->name, "first");
    assert_ptr_equal(profile->functions[0], first);
    assert_int_equal(profile->function_count, COUNT + 1);
    assert_int_equal(profile->location_count, COUNT);
    assert_int_equal(profile->comment_count, COUNT);
    assert_string_equal(profile->comments[COUNT - 1], profile->functions[COUNT]->name);
    profile_free(profile);
}

static void a_sample_type_is_found_by_name_number_or_default(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    assert_int_equal(profile_sample_type_index(profile, NULL), -1);
    profile_add_sample_type(profile, "objects", "count");
    profile_add_sample_type(profile, "space", "bytes");
    profile_add_sample_type(profile, "peak_space", "bytes");
    assert_int_equal(profile_sample_type_index(profile, NULL), 2);
    assert_int_equal(profile_sample_type_index(profile, ""), 2);
    profile->default_sample_type = profile_intern(profile, "space");
    assert_int_equal(profile_sample_type_index(profile, NULL), 1);
    profile->default_sample_type = profile_intern(profile, "no such type");
    assert_int_equal(profile_sample_type_index(profile, NULL), 2);
    assert_int_equal(profile_sample_type_index(profile, "objects"), 0);
    assert_int_equal(profile_sample_type_index(profile, "inuse_objects"), 0);
    assert_int_equal(profile_sample_type_index(profile, "inuse_peak_space"), 2);
    assert_int_equal(profile_sample_type_index(profile, "alloc_objects"), -1);
    assert_int_equal(profile_sample_type_index(profile, "object"), -1);
    assert_int_equal(profile_sample_type_index(profile, "1"), 1);
    assert_int_equal(profile_sample_type_index(profile, "3"), -1);
    assert_int_equal(profile_sample_type_index(profile, "-1"), -1);
    assert_int_equal(profile_sample_type_index(profile, "18446744073709551617"), -1);
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_profile_is_empty_and_its_texts_are_never_null),
        cmocka_unit_test(equal_texts_are_the_same_pointer),
        cmocka_unit_test(functions_are_one_by_name_file_and_line),
        cmocka_unit_test(locations_are_one_by_mapping_and_address),
        cmocka_unit_test(lines_are_copied_and_can_be_replaced),
        cmocka_unit_test(samples_keep_their_stacks_values_and_labels),
        cmocka_unit_test(elements_stay_where_they_are_while_the_profile_grows),
        cmocka_unit_test(a_sample_type_is_found_by_name_number_or_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
