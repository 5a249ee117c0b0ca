/* frame_names_test.c: the names that reports show. */
#include "cli/frame_names.h"
#include "proto/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_name(const char *name, const char *system_name, const char *expected)
{
    struct profile *profile = profile_new();
    const struct profile_function *function = profile_function(profile, name, system_name, "", 0);
    struct frame_names *names = frame_names_new(profile);
    assert_string_equal(frame_names_of(names, function), expected);
    frame_names_free(names);
    profile_free(profile);
}

static void a_name_that_was_made_for_people_stays(void **state)
{
    (void)state;
    assert_name("std::vector<int>::push_back(int)", "_ZNSt6vectorIiSaIiEE9push_backEOi",
                "std::vector<int>::push_back(int)");
    assert_name("main", "", "main");
}

static void mangled_names_are_demangled_and_simplified(void **state)
{
    (void)state;
    assert_name("_ZN3foo3barEi", "_ZN3foo3barEi", "foo::bar");
    assert_name("", "_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector::push_back");
    assert_name("_start", "_start", "_start");
}

static void full_names_lose_parameters_and_template_arguments(void **state)
{
    (void)state;
    assert_name("ns::f(int, (char))", "ns::f(int, (char))", "ns::f");
    assert_name("std::map<a<b>, c>::at", "std::map<a<b>, c>::at", "std::map::at");
    assert_name("x<y", "x<y", "x<y");
    assert_name("a::b)c(d)", "a::b)c(d)", "a::b)c(d)");
    assert_name("a::b(c)d)(e)", "a::b(c)d)(e)", "a::bd)(e)");
}

static void brackets_that_belong_to_other_languages_stay(void **state)
{
    (void)state;
    assert_name("sync.(*Mutex).Lock", "sync.(*Mutex).Lock", "sync.(*Mutex).Lock");
    assert_name("main.(*T[...]).Foo", "main.(*T[...]).Foo", "main.(*T[...]).Foo");
    assert_name("com.example.Foo.<init>", "com.example.Foo.<init>", "com.example.Foo.<init>");
    assert_name("f(int)", "f(int)", "f(int)");
}

static void assert_place(struct profile *profile, struct profile_mapping *mapping, uint64_t address,
                         const char *expected)
{
    char text[64];
    assert_string_equal(
        frame_names_place(profile_location(profile, mapping, address), text, sizeof(text)),
        expected);
}

static void code_without_a_name_is_named_by_its_place(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    struct profile_mapping *library =
        profile_add_mapping(profile, &(struct profile_mapping){.memory_start = 0x7f0000001000,
                                                               .memory_limit = 0x7f0000003000,
                                                               .file_offset = 0x2000,
                                                               .filename = "/usr/lib/libfoo.so",
                                                               .build_id = ""});
    struct profile_mapping *nameless = profile_add_mapping(
        profile, &(struct profile_mapping){.memory_limit = 0x1000, .filename = "", .build_id = ""});
    assert_place(profile, library, 0x7f0000001234, "libfoo.so+0x2234");
    assert_place(profile, library, 0, "[libfoo.so]");
    assert_place(profile, NULL, 0x1234, "0x1234");
    assert_place(profile, NULL, 0, "[unknown]");
    assert_place(profile, nameless, 0x123, "0x123");
    profile_free(profile);
}

static void a_place_is_cut_to_its_room(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    char text[6];
    frame_names_place(profile_location(profile, NULL, 0x123456), text, sizeof(text));
    assert_string_equal(text, "0x123");
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_that_was_made_for_people_stays),
        cmocka_unit_test(mangled_names_are_demangled_and_simplified),
        cmocka_unit_test(full_names_lose_parameters_and_template_arguments),
        cmocka_unit_test(brackets_that_belong_to_other_languages_stay),
        cmocka_unit_test(code_without_a_name_is_named_by_its_place),
        cmocka_unit_test(a_place_is_cut_to_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
