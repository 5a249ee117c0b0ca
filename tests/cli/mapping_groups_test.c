/* mapping_groups_test.c: which mappings are the same piece of a file. */
#include "cli/mapping_groups.h"
#include "proto/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct profile_mapping *add(struct profile *profile, uint64_t start, uint64_t size,
                                   const char *filename, const char *build_id)
{
    struct profile_mapping mapping = {.memory_start = start,
                                      .memory_limit = start + size,
                                      .filename = filename,
                                      .build_id = build_id};
    return profile_add_mapping(profile, &mapping);
}

static void add_use(struct profile *profile, struct profile_mapping *mapping)
{
    int64_t value = 1;
    struct profile_location *location = profile_location(profile, mapping, mapping->memory_start);
    profile_add_sample(profile, &location, 1, &value);
}

static void a_group_is_named_after_its_first_use(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    profile_add_sample_type(profile, "space", "bytes");
    add(profile, 0x400000, 0x1000, "/bin/app", "");
    const struct profile_mapping *one = add(profile, 0x10000, 0x2000, "/a/libx.so", "abc");
    struct profile_mapping *two = add(profile, 0x20000, 0x1fff, "/b/libx.so", "abc");
    const struct profile_mapping *other = add(profile, 0x30000, 0x2001, "/c/libx.so", "abc");
    add_use(profile, two);
    struct mapping_groups *groups = mapping_groups_new(profile);
    assert_ptr_equal(mapping_groups_first(groups, one), two);
    assert_string_equal(mapping_groups_file(groups, one), "/b/libx.so");
    assert_string_equal(mapping_groups_file(groups, two), "/b/libx.so");
    assert_string_equal(mapping_groups_file(groups, other), "/c/libx.so");
    mapping_groups_free(groups);
    profile_free(profile);
}

static void without_a_build_id_the_file_name_tells_them_apart(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    const struct profile_mapping *one = add(profile, 0x1000, 0x1000, "/a/libx.so", "");
    const struct profile_mapping *two = add(profile, 0x2000, 0x1000, "/b/libx.so", "");
    const struct profile_mapping *same = add(profile, 0x3000, 0x1000, "/a/libx.so", "");
    struct mapping_groups *groups = mapping_groups_new(profile);
    assert_ptr_equal(mapping_groups_first(groups, same), one);
    assert_ptr_equal(mapping_groups_first(groups, two), two);
    mapping_groups_free(groups);
    profile_free(profile);
}

static void no_mapping_and_urls_have_no_file(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    const struct profile_mapping *url = add(profile, 0x1000, 0x1000, "http://host/x", "");
    const struct profile_mapping *with_id = add(profile, 0x2000, 0x1000, "http://host/y", "abc");
    const struct profile_mapping *path = add(profile, 0x3000, 0x1000, "/dir/a:b", "");
    const struct profile_mapping *anonymous = add(profile, 0x4000, 0x1000, "//anon", "");
    struct mapping_groups *groups = mapping_groups_new(profile);
    assert_string_equal(mapping_groups_file(groups, NULL), "");
    assert_string_equal(mapping_groups_file(groups, url), "");
    assert_string_equal(mapping_groups_file(groups, with_id), "http://host/y");
    assert_string_equal(mapping_groups_file(groups, path), "/dir/a:b");
    assert_string_equal(mapping_groups_file(groups, anonymous), "//anon");
    mapping_groups_free(groups);
    profile_free(profile);
}

static void a_profile_without_mappings_has_no_groups(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    struct mapping_groups *groups = mapping_groups_new(profile);
    assert_string_equal(mapping_groups_file(groups, NULL), "");
    mapping_groups_free(groups);
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_is_named_after_its_first_use),
        cmocka_unit_test(without_a_build_id_the_file_name_tells_them_apart),
        cmocka_unit_test(no_mapping_and_urls_have_no_file),
        cmocka_unit_test(a_profile_without_mappings_has_no_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
