/* error_test.c: one failure, in one line. */
#include "proto/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

static void subject_and_reason_make_one_line(void **state)
{
    (void)state;
    struct error error;
    error_set(&error, "heap.prof", "truncated: %d stacks promised", 9);
    assert_string_equal(error.text, "heap.prof: truncated: 9 stacks promised");
    error_set(&error, NULL, "no %s", "subject");
    assert_string_equal(error.text, "no subject");
}

static void the_words_of_errno_come_last(void **state)
{
    (void)state;
    struct error error;
    error_set_errno(&error, "x", ENOENT, "cannot be opened");
    assert_string_equal(error.text, "x: cannot be opened: No such file or directory");
    error_set_errno(&error, "x", ENOENT, "%s", "");
    assert_string_equal(error.text, "x: No such file or directory");
}

static void errno_is_kept_and_null_is_accepted(void **state)
{
    (void)state;
    struct error error;
    errno = E2BIG;
    error_set(&error, "x", "y");
    error_set_errno(&error, "x", 99999, "y");
    error_set(NULL, "x", "y");
    error_set_errno(NULL, "x", EINTR, "y");
    assert_int_equal(errno, E2BIG);
}

static void control_characters_cannot_reach_the_terminal(void **state)
{
    (void)state;
    struct error error;
    error_set(&error, "a\nb\033[31m\177", "t\tr\r%s", "\xc2\x9b");
    assert_string_equal(error.text, "a?b?[31m?: t?r??");
}

static void names_keep_their_utf8_and_lose_what_is_none(void **state)
{
    (void)state;
    struct error error;
    error_set(&error, "caf\xc3\xa9", "\xff\xe2\x82\xac\xe2\x82");
    assert_string_equal(error.text, "caf\xc3\xa9: ?\xe2\x82\xac?");
}

static void a_long_reason_is_cut_at_a_whole_character(void **state)
{
    (void)state;
    struct error error;
    char reason[3 * sizeof(error.text) + 1];
    for (size_t i = 0; i + 3 < sizeof(reason); i += 3)
        memcpy(reason + i, "\xe2\x82\xac", 4);
    for (int shift = 0; shift < 3; shift++) {
        error_set(&error, NULL, "%.*s%s", shift, "ab", reason);
        size_t length = strlen(error.text);
        assert_in_range(length, sizeof(error.text) - 4, sizeof(error.text) - 1);
        for (const char *at = error.text + shift; at + 3 <= error.text + length; at += 3)
            assert_memory_equal(at, "\xe2\x82\xac", 3);
    }
}

static void a_long_subject_leaves_room_for_the_reason(void **state)
{
    (void)state;
    struct error error;
    char subject[5000];
    memset(subject, 'd', sizeof(subject));
    strcpy(subject + sizeof(subject) - 11, "/heap.prof");
    error_set_errno(&error, subject, ENOENT, "cannot be opened");
    assert_memory_equal(error.text, "...d", 4);
    assert_non_null(strstr(error.text, "/heap.prof: cannot be opened: No such file"));
    assert_true(strlen(error.text) < sizeof(error.text));
}

static void the_old_text_may_be_part_of_the_new_one(void **state)
{
    (void)state;
    struct error error;
    error_set(&error, NULL, "inner");
    error_set(&error, "outer", "%s", error.text);
    assert_string_equal(error.text, "outer: inner");
    error_set(&error, error.text, "again");
    assert_string_equal(error.text, "outer: inner: again");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subject_and_reason_make_one_line),
        cmocka_unit_test(the_words_of_errno_come_last),
        cmocka_unit_test(errno_is_kept_and_null_is_accepted),
        cmocka_unit_test(control_characters_cannot_reach_the_terminal),
        cmocka_unit_test(names_keep_their_utf8_and_lose_what_is_none),
        cmocka_unit_test(a_long_reason_is_cut_at_a_whole_character),
        cmocka_unit_test(a_long_subject_leaves_room_for_the_reason),
        cmocka_unit_test(the_old_text_may_be_part_of_the_new_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
