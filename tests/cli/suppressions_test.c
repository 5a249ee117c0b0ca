/* suppressions_test.c: LeakSanitizer's suppressions: what a file says, what a pattern matches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/suppressions.h"
#include "proto/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static int make_file(void **state)
{
    (void)state;
    strcpy(path, "/tmp/suppressions_test.XXXXXX");
    int descriptor = mkstemp(path);
    return descriptor < 0 ? -1 : close(descriptor);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_bytes(const char *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* --- patterns -------------------------------------------------------------------------------- */

/* The results are those of __sanitizer::TemplateMatch in libubsan 12. */
static void patterns_match_as_in_leak_sanitizer(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        {"foo", "foo", true},
        {"foo", "a::foobar", true},
        {"foo", "fo", false},
        {"foo", "Foo", false},
        {"foo", "", false},
        {"", "", false},
        {"", "x", true},
        {"^foo", "foobar", true},
        {"^foo", "a::foo", false},
        {"^", "x", true},
        {"a^b", "a^b", true},
        {"a^b", "ab", false},
        {"foo$", "a::foo", true},
        {"foo$", "foobar", false},
        {"foo$", "foofoo", false},
        {"*foo$", "foofoo", false},
        {"foo*$", "foofoo", true},
        {"^foo$", "foo", true},
        {"^foo$", "foo2", false},
        {"$", "x", false},
        {"*$", "x", true},
        {"foo$bar", "foo", true},
        {"foo$bar", "foo$bar", false},
        {"*", "x", true},
        {"*", "", false},
        {"**foo**", "a foo b", true},
        {"a*c", "abc", true},
        {"a*c", "ca", false},
        {"a*c", "ac", true},
        {"a*a", "a", false},
        {"^*b", "ab", true},
        {"^a*c$", "abc", true},
        {"^a*c$", "abcd", false},
        {"libfoo.so", "/usr/lib/libfoo.so.1", true},
        {"lib?oo", "libfoo", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (suppression_matches(cases[i].pattern, cases[i].text) != cases[i].matches)
            fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].text);
}

/* Each piece is looked for once: a pattern cannot be made to take long. */
static void many_wildcards_end_quickly(void **state)
{
    (void)state;
    enum { STARS = 10000 };
    char *pattern = malloc(2 * STARS + 2), *text = malloc(STARS + 1);
    for (size_t i = 0; i < STARS; i++)
        memcpy(pattern + 2 * i, "*a", 2);
    strcpy(pattern + 2 * STARS, "b");
    memset(text, 'a', STARS);
    text[STARS] = '\0';
    assert_false(suppression_matches(pattern, text));
    free(pattern);
    free(text);
}

/* --- files ----------------------------------------------------------------------------------- */

static void each_line_is_a_pattern_but_comments_and_blank_ones(void **state)
{
    (void)state;
    static const char text[] = "# leak:not\n\n  \t\nleak:one\n \tleak:two words  \r\n  # no\n"
                               "leak: space\nleak:leak:x # not a comment\n\r\nleak:last";
    static const struct {
        const char *pattern;
        size_t line;
    } expected[] = {
        {"one", 4}, {"two words", 5}, {" space", 7}, {"leak:x # not a comment", 8}, {"last", 10}};
    struct error error = {0};
    write_bytes(text, sizeof(text) - 1);
    struct suppressions *suppressions = suppressions_read(path, &error);
    assert_non_null(suppressions);
    assert_string_equal(suppressions->path, path);
    assert_int_equal(suppressions->count, sizeof(expected) / sizeof(*expected));
    for (size_t i = 0; i < suppressions->count; i++) {
        assert_string_equal(suppressions->items[i].pattern, expected[i].pattern);
        assert_int_equal(suppressions->items[i].line, expected[i].line);
    }
    assert_int_equal(suppressions_find(suppressions, "a two words one"), 0);
    assert_int_equal(suppressions_find(suppressions, "at last"), 4);
    assert_int_equal(suppressions_find(suppressions, "none"), 0);
    assert_int_equal(suppressions_find(suppressions, "nothing"), 5);
    suppressions_free(suppressions);
}

static void a_file_without_any_is_good(void **state)
{
    (void)state;
    struct error error = {0};
    write_bytes("", 0);
    struct suppressions *suppressions = suppressions_read(path, &error);
    assert_non_null(suppressions);
    assert_int_equal(suppressions->count, 0);
    assert_int_equal(suppressions_find(suppressions, "x"), 0);
    suppressions_free(suppressions);
    suppressions_free(NULL);
}

static void a_bad_line_is_refused_by_file_and_line(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
        const char *expected;
    } cases[] = {
#define CASE(text, expected) {text, sizeof(text) - 1, expected}
        CASE("leak:a\nrace:b\n", ":2: not of the form leak:PATTERN"),
        CASE("foo", ":1: not of the form leak:PATTERN"),
        CASE("Leak:foo", ":1: not of the form leak:PATTERN"),
        CASE("leak", ":1: not of the form leak:PATTERN"),
        CASE("leak :foo", ":1: not of the form leak:PATTERN"),
        CASE("\n\nleak:\n", ":3: no pattern behind leak:"),
        CASE("leak:  \t\r\n", ":1: no pattern behind leak:"),
        CASE("leak:a\0b\n", ":1: a NUL byte in the line"),
        CASE("\0\0\0\0", ":1: a NUL byte in the line"),
#undef CASE
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct error error = {0};
        char expected[256];
        write_bytes(cases[i].text, cases[i].size);
        assert_null(suppressions_read(path, &error));
        snprintf(expected, sizeof(expected), "%s%s", path, cases[i].expected);
        assert_string_equal(error.text, expected);
    }
}

static void a_file_that_cannot_be_read_is_refused(void **state)
{
    (void)state;
    struct error error = {0};
    assert_null(suppressions_read("/no/such/file", &error));
    assert_non_null(strstr(error.text, "/no/such/file: "));
    assert_null(suppressions_read("/dev/zero", &error));
    assert_non_null(strstr(error.text, "/dev/zero: too large"));
    assert_null(suppressions_read("/", &error));
    assert_non_null(strstr(error.text, "directory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_as_in_leak_sanitizer),
        cmocka_unit_test(many_wildcards_end_quickly),
        cmocka_unit_test_setup_teardown(each_line_is_a_pattern_but_comments_and_blank_ones,
                                        make_file, remove_file),
        cmocka_unit_test_setup_teardown(a_file_without_any_is_good, make_file, remove_file),
        cmocka_unit_test_setup_teardown(a_bad_line_is_refused_by_file_and_line, make_file,
                                        remove_file),
        cmocka_unit_test(a_file_that_cannot_be_read_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
