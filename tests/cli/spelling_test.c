/* spelling_test.c: what somebody who mistyped a word may have meant. */
#include "cli/spelling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *best_of_commands(const char *word)
{
    static const char *const commands[] = {"run", "top", "flame", "fold"};
    struct spelling spelling;
    spelling_init(&spelling, word);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        spelling_offer(&spelling, commands[i]);
    return spelling.best;
}

static void one_wrong_missing_added_or_swapped_letter_is_found(void **state)
{
    (void)state;
    assert_string_equal(best_of_commands("tip"), "top");
    assert_string_equal(best_of_commands("fod"), "fold");
    assert_string_equal(best_of_commands("runn"), "run");
    assert_string_equal(best_of_commands("tpo"), "top");
    assert_string_equal(best_of_commands("falme"), "flame");
}

static void the_beginning_of_a_word_is_found(void **state)
{
    (void)state;
    assert_string_equal(best_of_commands("fl"), "flame");
    assert_string_equal(best_of_commands("t"), "top");
}

static void other_words_are_close_to_nothing(void **state)
{
    (void)state;
    assert_null(best_of_commands("annotate"));
    assert_null(best_of_commands("xyz"));
    assert_null(best_of_commands(""));
    assert_null(best_of_commands("toptoptoptoptoptoptoptoptoptoptoptoptoptoptop"));
}

static void the_closest_wins_and_of_equals_the_first(void **state)
{
    (void)state;
    struct spelling spelling;
    spelling_init(&spelling, "node-cont");
    spelling_offer(&spelling, "node-fractions");
    spelling_offer(&spelling, "node-count");
    spelling_offer(&spelling, "mode-count");
    assert_string_equal(spelling.best, "node-count");
    spelling_init(&spelling, "cat");
    spelling_offer(&spelling, "bat");
    spelling_offer(&spelling, "hat");
    assert_string_equal(spelling.best, "bat");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_wrong_missing_added_or_swapped_letter_is_found),
        cmocka_unit_test(the_beginning_of_a_word_is_found),
        cmocka_unit_test(other_words_are_close_to_nothing),
        cmocka_unit_test(the_closest_wins_and_of_equals_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
