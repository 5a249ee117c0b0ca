/* machine_comments_test.c: facts among a profile's comments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/machine_comments.h"
#include "proto/profile.h"

static void a_key_is_found_whole(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    static const char *const comments[] = {"rate 1",   "#rate 2",    "# rates 3", "# rate 4",
                                           "# rate 5", "# note a b", "# empty"};
    for (size_t i = 0; i < sizeof(comments) / sizeof(*comments); i++)
        profile_add_comment(profile, comments[i]);
    assert_string_equal(machine_comment(profile, "rate"), "4");
    assert_string_equal(machine_comment(profile, "note"), "a b");
    assert_string_equal(machine_comment(profile, "empty"), "");
    assert_null(machine_comment(profile, "rat"));
    assert_null(machine_comment(profile, "seed"));
    profile_free(profile);
}

static void a_number_is_all_of_the_value(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    static const char *const comments[] = {"# zero 0",
                                           "# most 18446744073709551615",
                                           "# more 18446744073709551616",
                                           "# minus -1",
                                           "# tail 12 ",
                                           "# word twelve",
                                           "# none"};
    for (size_t i = 0; i < sizeof(comments) / sizeof(*comments); i++)
        profile_add_comment(profile, comments[i]);
    uint64_t number = 7;
    assert_true(machine_comment_number(profile, "zero", &number));
    assert_int_equal(number, 0);
    assert_true(machine_comment_number(profile, "most", &number));
    assert_true(number == UINT64_MAX);
    static const char *const bad[] = {"more", "minus", "tail", "word", "none", "missing"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_false(machine_comment_number(profile, bad[i], &number));
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_found_whole),
        cmocka_unit_test(a_number_is_all_of_the_value),
    };
    return cmocka_run_group_tests_name("machine_comments", tests, NULL, NULL);
}
