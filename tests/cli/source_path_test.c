/* source_path_test.c: paths of files as reports show them. */
#include "cli/source_path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static void assert_base(const char *path, const char *expected)
{
    size_t length;
    const char *base = source_path_base(path, &length);
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(base, expected, length);
}

static void the_base_is_the_last_part(void **state)
{
    (void)state;
    assert_base("/usr/lib/libc.so.6", "libc.so.6");
    assert_base("app", "app");
    assert_base("/a/b/", "b");
    assert_base("a///", "a");
    assert_base("/", "/");
    assert_base("///", "/");
    assert_base("", ".");
}

static void the_folder_of_a_build_sandbox_goes(void **state)
{
    (void)state;
    assert_string_equal(source_path_trim("/proc/self/cwd/a/b.c"), "a/b.c");
    assert_string_equal(source_path_trim("/proc/self/cwd/./b.c"), "b.c");
    assert_string_equal(source_path_trim("/src/b.c"), "/src/b.c");
    assert_string_equal(source_path_trim(""), "");
}

static void assert_clean(const char *path, const char *expected)
{
    char clean[64];
    assert_string_equal(source_path_clean(path, clean), expected);
}

static void clean_paths_are_the_shortest_that_mean_the_same(void **state)
{
    (void)state;
    assert_clean("", ".");
    assert_clean("a//b/./c", "a/b/c");
    assert_clean("a/../b", "b");
    assert_clean("a/..", ".");
    assert_clean("../../a", "../../a");
    assert_clean("a/../../b", "../b");
    assert_clean("../a/../b", "../b");
    assert_clean("/..", "/");
    assert_clean("/../../a/", "/a");
    assert_clean("/a/b/../../c", "/c");
    assert_clean("./..a/.b", "..a/.b");
    assert_clean("//", "/");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_base_is_the_last_part),
        cmocka_unit_test(the_folder_of_a_build_sandbox_goes),
        cmocka_unit_test(clean_paths_are_the_shortest_that_mean_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
