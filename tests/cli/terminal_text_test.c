/* terminal_text_test.c: text from files on a terminal. */
#include "cli/terminal_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

typedef void write_text(const char *text, FILE *stream);

static void assert_written(write_text *writer, const char *text, const char *expected)
{
    char *written = NULL;
    size_t size;
    FILE *stream = open_memstream(&written, &size);
    writer(text, stream);
    fclose(stream);
    assert_string_equal(written, expected);
    free(written);
}

static void ordinary_text_stays(void **state)
{
    (void)state;
    assert_written(terminal_text_write,
                   "std::vector<int>::push_back \xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80",
                   "std::vector<int>::push_back \xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80");
    assert_written(terminal_text_write, "", "");
}

static void controls_are_escaped(void **state)
{
    (void)state;
    assert_written(terminal_text_write, "a\nb\tc\rd", "a\\nb\\tc\\rd");
    assert_written(terminal_text_write, "\033[31mred\177", "\\x1b[31mred\\x7f");
    assert_written(terminal_text_write,
                   "\xc2\x9b"
                   "31m",
                   "\\x9b31m");
}

static void direction_marks_are_escaped(void **state)
{
    (void)state;
    assert_written(terminal_text_write,
                   "a\xe2\x80\xae"
                   "b\xe2\x81\xa6",
                   "a\\u202eb\\u2066");
}

static void bytes_that_are_no_utf8_are_replaced(void **state)
{
    (void)state;
    assert_written(terminal_text_write,
                   "a\xff"
                   "b",
                   "a\xef\xbf\xbd"
                   "b");
}

static void texts_of_several_lines_keep_their_line_ends(void **state)
{
    (void)state;
    assert_written(terminal_text_write_lines, "one\n\ttwo\033\r", "one\n\ttwo\\x1b\\r");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_text_stays),
        cmocka_unit_test(controls_are_escaped),
        cmocka_unit_test(direction_marks_are_escaped),
        cmocka_unit_test(bytes_that_are_no_utf8_are_replaced),
        cmocka_unit_test(texts_of_several_lines_keep_their_line_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
