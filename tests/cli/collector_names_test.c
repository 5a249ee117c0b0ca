/* collector_names_test.c: what the files of a run are called. */
#include "cli/collector_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proto/error.h"

static void assert_next(struct names *names, struct names_of of, const char *expected)
{
    char *name = names_next(names, &of);
    assert_string_equal(name, expected);
    free(name);
}

static struct names_of command(uint32_t earlier_image)
{
    return (struct names_of){.pid = 77,
                             .sequence = 1,
                             .earlier_image = earlier_image,
                             .is_command = true,
                             .executable = "/usr/bin/app"};
}

static struct names_of child(uint32_t pid, uint32_t earlier_image)
{
    return (struct names_of){
        .pid = pid, .sequence = 2, .earlier_image = earlier_image, .executable = "/usr/bin/app"};
}

static void without_a_pattern_the_command_has_heap_prof(void **state)
{
    (void)state;
    struct names *names = names_new(NULL, ".prof", NULL);
    assert_next(names, command(1), "heap.1.prof");
    assert_next(names, command(0), "heap.prof");
    assert_next(names, child(78, 0), "heap.78.prof");
    assert_next(names, child(79, 1), "heap.79.1.prof");
    assert_true(names_is_fixed(names));
    names_free(names);
}

static void a_fixed_name_gets_the_pid_before_its_suffix(void **state)
{
    (void)state;
    struct names *names = names_new("out.d/.hidden", ".prof", NULL);
    assert_next(names, command(0), "out.d/.hidden");
    assert_next(names, child(78, 0), "out.d/.hidden.78");
    names_free(names);
    names = names_new("a.b.c", ".prof", NULL);
    assert_next(names, child(78, 0), "a.b.78.c");
    names_free(names);
}

static void patterns_are_filled_in(void **state)
{
    (void)state;
    struct names *names = names_new("%e-%p-%n-%%.prof", ".prof", NULL);
    assert_next(names, command(0), "app-77-1-%.prof");
    assert_next(names, child(78, 0), "app-78-2-%.prof");
    assert_false(names_is_fixed(names));
    names_free(names);
}

static void no_name_is_given_twice(void **state)
{
    (void)state;
    struct names *names = names_new("%e.prof", ".prof", NULL);
    assert_next(names, command(0), "app.prof");
    assert_next(names, child(78, 0), "app.78.prof");
    assert_next(names, child(78, 0), "app.78.2.prof");
    assert_next(names, child(78, 0), "app.78.3.prof");
    names_free(names);
}

static void a_program_without_a_name_is_unknown(void **state)
{
    (void)state;
    struct names *names = names_new("%e", ".prof", NULL);
    struct names_of of = {.pid = 1, .executable = ""};
    assert_next(names, of, "unknown");
    of.executable = "/..";
    assert_next(names, of, "unknown.1");
    names_free(names);
}

static void meaningless_percents_are_refused(void **state)
{
    (void)state;
    struct error error;
    assert_null(names_new("a%z", ".prof", &error));
    assert_non_null(strstr(error.text, "'%z'"));
    assert_null(names_new("a%", ".prof", &error));
    struct names *names = names_new("a%%", ".prof", &error);
    assert_non_null(names);
    names_free(names);
}

static void a_preview_exists_when_the_folder_is_known(void **state)
{
    (void)state;
    struct names *names = names_new("%p/x", ".prof", NULL);
    assert_null(names_preview(names, "app"));
    names_free(names);
    names = names_new("%e/%p.prof", ".prof", NULL);
    char *preview = names_preview(names, "/bin/app");
    assert_string_equal(preview, "app/0.prof");
    free(preview);
    names_free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_pattern_the_command_has_heap_prof),
        cmocka_unit_test(a_fixed_name_gets_the_pid_before_its_suffix),
        cmocka_unit_test(patterns_are_filled_in),
        cmocka_unit_test(no_name_is_given_twice),
        cmocka_unit_test(a_program_without_a_name_is_unknown),
        cmocka_unit_test(meaningless_percents_are_refused),
        cmocka_unit_test(a_preview_exists_when_the_folder_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
