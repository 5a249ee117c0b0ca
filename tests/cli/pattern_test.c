/* pattern_test.c: regular expressions of profiles. */
#include "cli/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static bool matches(const char *pattern_text, const char *text)
{
    struct pattern *pattern = pattern_new(pattern_text);
    assert_non_null(pattern);
    bool result = pattern_matches(pattern, text);
    /* A pattern keeps nothing of the text it was tried on. */
    assert_int_equal(pattern_matches(pattern, text), result);
    pattern_free(pattern);
    return result;
}

struct expectation {
    const char *pattern;
    const char *text;
    bool matches;
};

static void assert_all(const struct expectation *expectations, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (matches(expectations[i].pattern, expectations[i].text) != expectations[i].matches)
            fail_msg("%s on %s", expectations[i].pattern, expectations[i].text);
}

#define ASSERT_ALL(expectations)                                                                   \
    assert_all(expectations, sizeof(expectations) / sizeof((expectations)[0]))

static void names_of_allocators_match_as_a_whole(void **state)
{
    (void)state;
    static const char *const drop = "^(calloc|malloc|operator new(\\[\\])?|tc_.*|"
                                    "(__)?posix_memalign|std::_.*)$";
    assert_true(matches(drop, "malloc"));
    assert_true(matches(drop, "operator new"));
    assert_true(matches(drop, "operator new[]"));
    assert_true(matches(drop, "__posix_memalign"));
    assert_true(matches(drop, "tc_"));
    assert_false(matches(drop, "my_malloc"));
    assert_false(matches(drop, "malloc2"));
    assert_false(matches(drop, ""));
}

static void a_pattern_matches_anywhere_unless_it_is_anchored(void **state)
{
    (void)state;
    static const struct expectation expectations[] = {
        {"b", "abc", true},
        {"^b", "abc", false},
        {"c$", "abc", true},
        {"\\Aa", "abc", true},
        {"c\\z", "abc", true},
        {"", "", true},
        {"", "x", true},
        {"^$", "x", false},
        {"a^b", "ab", false},
        {"(?m)^b$", "a\nb\nc", true},
        {"^b$", "a\nb\nc", false},
        {"\\bnew\\b", "operator new[]", true},
        {"\\bnew\\b", "renew", false},
        {"\\Bw", "new", true},
        {"\\Bn", "new", false},
    };
    ASSERT_ALL(expectations);
}

static void repetitions_count(void **state)
{
    (void)state;
    static const struct expectation expectations[] = {
        {"^a*$", "", true},          {"^a+$", "", false},         {"^a?b$", "aab", false},
        {"^a{2}$", "aa", true},      {"^a{2}$", "aaa", false},    {"^a{2,}$", "aaaa", true},
        {"^a{1,3}$", "aaaa", false}, {"^(ab){2}$", "abab", true}, {"^a{0}b$", "b", true},
        {"^a*?b+?$", "aabb", true},  {"^(a*)*$", "aaa", true},    {"^(a|b)*c$", "abbac", true},
        {"^a{,2}$", "a{,2}", true},  {"^x{$", "x{", true},        {"^(a?){3}$", "aa", true},
    };
    ASSERT_ALL(expectations);
}

static void classes_hold_ranges_names_and_letters(void **state)
{
    (void)state;
    static const struct expectation expectations[] = {
        {"^[a-cx]+$", "abcx", true},      {"^[a-cx]+$", "d", false},
        {"^[^a-c]$", "d", true},          {"^[^a-c]$", "b", false},
        {"^[]a]+$", "]a", true},          {"^[^]a]$", "]", false},
        {"^[a-]+$", "a-", true},          {"^[[:alpha:]_]+$", "Ab_", true},
        {"^[[:^digit:]]+$", "a1", false}, {"^[\\d\\s]+$", "1 2", true},
        {"^\\w+$", "aZ_9", true},         {"^\\W$", "-", true},
        {"^[\\W]$", "a", false},          {"^\\S\\D$", "1a", true},
        {"^[^\\n]$", "\n", false},        {"^[a\\]b]+$", "]", true},
    };
    ASSERT_ALL(expectations);
}

static void escapes_stand_for_one_character(void **state)
{
    (void)state;
    static const struct expectation expectations[] = {
        {"^a\\.b$", "a.b", true}, {"^a\\.b$", "axb", false},  {"^\\x41\\x{42}$", "AB", true},
        {"^\\101$", "A", true},   {"^\\t\\n$", "\t\n", true}, {"^\\Q(*)\\E+$", "(*))", true},
        {"\\Qa.b", "a.b", true},  {"^\\_$", "_", true},
    };
    ASSERT_ALL(expectations);
}

static void flags_hold_for_their_group(void **state)
{
    (void)state;
    static const struct expectation expectations[] = {
        {"^(?i)Malloc$", "mALLOC", true}, {"^(?i:a)b$", "Ab", true},
        {"^(?i:a)b$", "AB", false},       {"^((?i)a)b$", "AB", false},
        {"^(?i)[a-c]+$", "ABC", true},    {"^(?i)[^a]$", "A", false},
        {"^a.b$", "a\nb", false},         {"(?s)^a.b$", "a\nb", true},
        {"(?i-s)^A.$", "a\n", false},     {"^(?P<name>a)(?:b)$", "ab", true},
        {"(?U)^a+$", "aa", true},
    };
    ASSERT_ALL(expectations);
}

static void characters_are_those_of_utf8(void **state)
{
    (void)state;
    static const struct expectation expectations[] = {
        {"^.$", "\xc3\xbc", true},           {"^[\xc3\xa4-\xc3\xbc]+$", "\xc3\xb6", true},
        {"^[^a]$", "\xe2\x82\xac", true},    {"^\\x{20ac}$", "\xe2\x82\xac", true},
        {"^..$", "\xf0\x9f\x98\x80x", true},
    };
    ASSERT_ALL(expectations);
}

static void what_is_no_pattern_does_not_compile(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "(",     ")",       "(a",     "a)",     "*",           "+a",
        "a**",   "a|*",     "[",      "[a",     "[b-a]",       "[[:x:]]",
        "\\",    "a{1001}", "a{2,1}", "{2}",    "(?z)a",       "(?P<>a)",
        "(?P<n", "(?",      "\\pL",   "\\1",    "\\x{110000}", "\\xZ1",
        "\\C",   "\\E",     "(?i",    "(?i-)a", "x{2}{3}",     "(a{100}){100}",
        "\\y",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct pattern *pattern = pattern_new(wrong[i]);
        if (pattern != NULL)
            fail_msg("%s compiles", wrong[i]);
    }
}

static void deep_and_long_patterns_are_refused(void **state)
{
    (void)state;
    enum { SIZE = 100000 };
    char *text = malloc(SIZE + 1);
    memset(text, '(', SIZE / 2);
    memset(text + SIZE / 2, ')', SIZE / 2);
    text[SIZE] = '\0';
    assert_null(pattern_new(text + SIZE / 2 - 5000));
    memset(text, 'a', SIZE);
    assert_null(pattern_new(text));
    free(text);
    assert_null(pattern_new("(((a{30}){30}){30})"));
}

/* A backtracking matcher would need 2^5000 steps here. */
static void no_pattern_is_slow(void **state)
{
    (void)state;
    enum { LENGTH = 5000 };
    char text[LENGTH + 1];
    memset(text, 'a', LENGTH);
    text[LENGTH] = '\0';
    assert_false(matches("^(a|aa)+(a*)*b$", text));
    assert_false(matches("^(a?){200}(a+)+b$", text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_allocators_match_as_a_whole),
        cmocka_unit_test(a_pattern_matches_anywhere_unless_it_is_anchored),
        cmocka_unit_test(repetitions_count),
        cmocka_unit_test(classes_hold_ranges_names_and_letters),
        cmocka_unit_test(escapes_stand_for_one_character),
        cmocka_unit_test(flags_hold_for_their_group),
        cmocka_unit_test(characters_are_those_of_utf8),
        cmocka_unit_test(what_is_no_pattern_does_not_compile),
        cmocka_unit_test(deep_and_long_patterns_are_refused),
        cmocka_unit_test(no_pattern_is_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
