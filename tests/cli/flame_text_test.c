/* flame_text_test.c: names made safe for XML and cut to fit. */
#include "cli/flame_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* What flame_text_write (columns SIZE_MAX) or flame_text_write_label writes; the caller frees. */
static char *written(const char *text, size_t columns)
{
    char *buffer = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&buffer, &size);
    assert_non_null(stream);
    if (columns == SIZE_MAX)
        flame_text_write(stream, text);
    else
        flame_text_write_label(stream, text, columns);
    fclose(stream);
    return buffer;
}

static void assert_written(const char *text, size_t columns, const char *expected)
{
    char *got = written(text, columns);
    assert_string_equal(got, expected);
    free(got);
}

static void harmless_text_stays_as_it_is(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "main",
                                        "std::vector::push_back",
                                        "gr\xc3\xbc\xc3\x9f",
                                        "\xe6\x97\xa5\xe6\x9c\xac",
                                        "\xf0\x9f\x99\x82"};
    for (size_t i = 0; i < LENGTH(texts); i++)
        assert_written(texts[i], SIZE_MAX, texts[i]);
}

static void what_has_a_meaning_in_xml_is_escaped(void **state)
{
    (void)state;
    assert_written("<a href=\"'x'\">&amp;]]>", SIZE_MAX,
                   "&lt;a href=&quot;&#39;x&#39;&quot;&gt;&amp;amp;]]&gt;");
}

static void control_characters_are_written_as_in_c(void **state)
{
    (void)state;
    assert_written("a\nb\t\r\x1b[0m\x7f\x01", SIZE_MAX, "a\\nb\\t\\r\\x1b[0m\\x7f\\x01");
    assert_written("a\nb\x1b", 8, "a\\nb\\x1b");
    assert_written("a\nb\x1b", 7, "a\\nb\xe2\x80\xa6");
}

static void what_xml_or_the_eye_cannot_take_is_replaced(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\xc2\x85",     /* U+0085, a C1 control */
        "\xef\xbf\xbe", /* U+FFFE */
        "\xef\xbf\xbf", /* U+FFFF */
        "\xef\xb7\x90", /* U+FDD0, a noncharacter */
        "\xe2\x80\xae", /* U+202E, right-to-left override */
        "\xe2\x81\xa6", /* U+2066, left-to-right isolate */
        "\xe2\x80\xa8", /* U+2028, line separator */
        "\xff",         /* never part of UTF-8 */
        "\x80",         /* a continuation byte alone */
        "\xc3",         /* cut off */
    };
    for (size_t i = 0; i < LENGTH(bad); i++)
        assert_written(bad[i], SIZE_MAX, "\xef\xbf\xbd");
}

static void each_byte_of_an_invalid_sequence_is_replaced(void **state)
{
    (void)state;
    assert_written("\xc0\xaf", SIZE_MAX, "\xef\xbf\xbd\xef\xbf\xbd"); /* overlong "/" */
    assert_written("\xed\xa0\x80", SIZE_MAX,                          /* a surrogate */
                   "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    assert_written("\xf4\x90\x80\x80", SIZE_MAX, /* beyond U+10FFFF */
                   "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    assert_written("\xe6\x97x", SIZE_MAX, "\xef\xbf\xbd\xef\xbf\xbdx");
}

static void a_long_name_loses_its_middle(void **state)
{
    (void)state;
    size_t length = FLAME_TEXT_LONGEST + 1;
    char *name = malloc(length + 1);
    assert_non_null(name);
    memset(name, 'x', length);
    name[length] = '\0';
    name[0] = 'a';
    name[length - 1] = 'z';
    char *got = written(name, SIZE_MAX);
    assert_int_equal(got[0], 'a');
    assert_int_equal(got[strlen(got) - 1], 'z');
    assert_non_null(strstr(got, "\xe2\x80\xa6 513 bytes left out \xe2\x80\xa6"));
    free(got);
    name[length - 1] = '\0';
    assert_written(name, SIZE_MAX, name);
    free(name);
}

static void a_long_name_is_not_cut_inside_a_character(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    char *name = malloc(3 * COUNT + 2);
    assert_non_null(name);
    for (size_t shift = 0; shift < 2; shift++) {
        name[0] = 'a';
        for (size_t i = 0; i < COUNT; i++)
            memcpy(name + shift + 3 * i, "\xe6\x97\xa5", 3);
        name[shift + 3 * COUNT] = '\0';
        char *got = written(name, SIZE_MAX);
        assert_null(strstr(got, "\xef\xbf\xbd"));
        assert_non_null(strstr(got, " bytes left out "));
        free(got);
    }
    free(name);
}

static void the_base_is_behind_the_last_qualifier(void **state)
{
    (void)state;
    static const struct {
        const char *name, *base;
    } cases[] = {
        {"main", "main"},
        {"std::vector::push_back", "push_back"},
        {"std::map<a::b, c::d>::find", "find"},
        {"<alloc::vec::Vec<T> as core::clone::Clone>::clone", "clone"},
        {"ns::call(std::string)", "call(std::string)"},
        {"github.com/user/module.(*Type).Method", "module.(*Type).Method"},
        {"ns::operator->", "operator->"},
        {"ns::operator<", "operator<"},
        {"trailing::", "trailing::"},
        {"/", "/"},
        {"a:b", "a:b"},
        {"", ""},
    };
    for (size_t i = 0; i < LENGTH(cases); i++)
        assert_string_equal(cases[i].name + flame_text_base(cases[i].name), cases[i].base);
}

static void a_label_loses_its_qualifiers_before_its_end(void **state)
{
    (void)state;
    const char *name = "std::vector::push_back";
    assert_written(name, 22, name);
    assert_written(name, 21, "\xe2\x80\xa6push_back");
    assert_written(name, 10, "\xe2\x80\xa6push_back");
    assert_written(name, 9, "push_bac\xe2\x80\xa6");
    assert_written(name, 3, "pu\xe2\x80\xa6");
    assert_written(name, 2, "");
    assert_written(name, 0, "");
    assert_written("ab", 2, "ab");
    assert_written("abc", 2, "");
}

static void wide_characters_take_two_columns(void **state)
{
    (void)state;
    const char *name = "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e";
    assert_written(name, 6, name);
    assert_written(name, 5, "\xe6\x97\xa5\xe6\x9c\xac\xe2\x80\xa6");
    assert_written(name, 4, "\xe6\x97\xa5\xe2\x80\xa6");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(harmless_text_stays_as_it_is),
        cmocka_unit_test(what_has_a_meaning_in_xml_is_escaped),
        cmocka_unit_test(control_characters_are_written_as_in_c),
        cmocka_unit_test(what_xml_or_the_eye_cannot_take_is_replaced),
        cmocka_unit_test(each_byte_of_an_invalid_sequence_is_replaced),
        cmocka_unit_test(a_long_name_loses_its_middle),
        cmocka_unit_test(a_long_name_is_not_cut_inside_a_character),
        cmocka_unit_test(the_base_is_behind_the_last_qualifier),
        cmocka_unit_test(a_label_loses_its_qualifiers_before_its_end),
        cmocka_unit_test(wide_characters_take_two_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
