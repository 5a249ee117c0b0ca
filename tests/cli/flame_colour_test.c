/* flame_colour_test.c: colour classes depend on names alone and are those of the style sheet. */
#include "cli/flame_colour.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int hue_distance(const char *one, const char *other)
{
    return abs(one[0] - other[0]);
}

static void functions_of_one_name_space_have_neighbouring_hues(void **state)
{
    (void)state;
    char first[FLAME_COLOUR_SIZE];
    char next[FLAME_COLOUR_SIZE];
    bool differs = false;
    flame_colour("std::f0", "libstdc++.so.6", "", first);
    for (int i = 1; i < 100; i++) {
        char name[32];
        snprintf(name, sizeof name, "std::f%d", i);
        flame_colour(name, "app", "", next);
        assert_true(hue_distance(first, next) <= 2);
        differs = differs || strcmp(first, next) != 0;
    }
    assert_true(differs);
}

static void the_name_space_is_found_in_cpp_rust_and_go(void **state)
{
    (void)state;
    char one[FLAME_COLOUR_SIZE];
    char other[FLAME_COLOUR_SIZE];
    for (int i = 0; i < 50; i++) {
        char rust[64], go[64];
        snprintf(rust, sizeof rust, "<alloc::vec::Vec<T%d> as X>::f", i);
        snprintf(go, sizeof go, "github.com/x/alloc.(*T%d).Method", i);
        flame_colour(rust, "app", "vec.rs", one);
        flame_colour(go, "other", "x.go", other);
        assert_true(hue_distance(one, other) <= 2);
    }
}

static void every_class_is_used_and_no_other(void **state)
{
    (void)state;
    bool seen[7][4] = {{false}};
    for (int i = 0; i < 5000; i++) {
        char name[32], text[FLAME_COLOUR_SIZE];
        snprintf(name, sizeof name, "space%d::function%d", i % 50, i);
        flame_colour(name, "", "", text);
        assert_true(text[0] >= 'a' && text[0] <= 'g' && text[1] >= '0' && text[1] <= '3');
        assert_int_equal(text[2], '\0');
        seen[text[0] - 'a'][text[1] - '0'] = true;
    }
    for (size_t i = 0; i < sizeof seen; i++)
        assert_true(((const bool *)seen)[i]);
}

static void frames_that_are_no_functions_are_grey(void **state)
{
    (void)state;
    char text[FLAME_COLOUR_SIZE];
    assert_string_equal(flame_colour("[truncated]", "app", "", text), "n");
}

static void changes_are_stronger_the_less_they_cancel_out(void **state)
{
    (void)state;
    static const struct {
        uint64_t growth, shrink;
        const char *class;
    } cases[] = {{10, 0, "u3"},         {10, 1, "u3"},         {10, 3, "u2"}, {10, 8, "u1"},
                 {10, 10, "n"},         {8, 10, "x1"},         {3, 10, "x2"}, {0, 10, "x3"},
                 {0, UINT64_MAX, "x3"}, {UINT64_MAX, 0, "u3"}, {0, 0, "n"},   {1, 0, "u3"}};
    char text[FLAME_COLOUR_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(flame_colour_change(cases[i].growth, cases[i].shrink, text),
                            cases[i].class);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_one_name_space_have_neighbouring_hues),
        cmocka_unit_test(the_name_space_is_found_in_cpp_rust_and_go),
        cmocka_unit_test(every_class_is_used_and_no_other),
        cmocka_unit_test(frames_that_are_no_functions_are_grey),
        cmocka_unit_test(changes_are_stronger_the_less_they_cancel_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
