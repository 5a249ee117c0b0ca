/* utf8_test.c: well-formed UTF-8, against an encoder and the Unicode Standard's own example. */
#include "proto/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

/* The bytes of a code point, by the bit layout alone. */
static size_t encode(uint32_t point, char *out)
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    if (point < 0x800) {
        out[0] = (char)(0xc0 | point >> 6);
        out[1] = (char)(0x80 | (point & 0x3f));
        return 2;
    }
    if (point < 0x10000) {
        out[0] = (char)(0xe0 | point >> 12);
        out[1] = (char)(0x80 | (point >> 6 & 0x3f));
        out[2] = (char)(0x80 | (point & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | point >> 18);
    out[1] = (char)(0x80 | (point >> 12 & 0x3f));
    out[2] = (char)(0x80 | (point >> 6 & 0x3f));
    out[3] = (char)(0x80 | (point & 0x3f));
    return 4;
}

static void every_character_but_nul_and_surrogates_is_well_formed(void **state)
{
    (void)state;
    for (uint32_t point = 0; point < 0x140000; point++) {
        char text[4];
        size_t length = encode(point, text);
        bool expected = point != 0 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
        bool valid;
        size_t step = utf8_step(text, length, &valid);
        assert_int_equal(valid, expected);
        if (expected)
            assert_int_equal(step, length);
        assert_int_equal(utf8_valid(text, length), expected);
    }
}

static void three_bytes_hold_as_many_characters_as_unicode_has(void **state)
{
    (void)state;
    /* All 2^24 sequences; U+0800 to U+FFFF without the surrogates are well-formed. */
    size_t found = 0;
    for (uint32_t bytes = 0; bytes < 0x1000000; bytes++) {
        char text[3] = {(char)(bytes >> 16), (char)(bytes >> 8), (char)bytes};
        bool valid;
        found += utf8_step(text, 3, &valid) == 3 && valid;
    }
    assert_int_equal(found, 0x10000 - 0x800 - 0x800);
}

static void check(const char *text, const char *expected)
{
    char out[256];
    size_t length = utf8_sanitize(out, text, strlen(text));
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(out, expected, length);
    assert_true(utf8_valid(out, length));
}

#define R "\xef\xbf\xbd"

static void errors_become_one_replacement_each(void **state)
{
    (void)state;
    check("plain", "plain");
    check("caf\xc3\xa9", "caf\xc3\xa9");
    check("\xff", R);
    check("\x80\x80", R R);
    check("a\xe2\x82", "a" R);    /* cut */
    check("\xe2\x82z", R "z");    /* broken off */
    check("\xc0\xaf", R R);       /* overlong */
    check("\xed\xa0\x80", R R R); /* surrogate */
    check("\xf4\x90\x80\x80", R R R R);
    /* The Unicode Standard, table 3-11 */
    check("\x61\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64", "a" R R R "b" R "c" R R "d");
}

static void nul_bytes_are_replaced(void **state)
{
    (void)state;
    char out[16];
    assert_false(utf8_valid("a\0b", 3));
    assert_int_equal(utf8_sanitize(out, "a\0b", 3), 5);
    assert_memory_equal(out, "a" R "b", 5);
}

static void the_end_of_the_text_is_respected(void **state)
{
    (void)state;
    for (size_t length = 1; length <= 3; length++) {
        char *exact = malloc(length); /* so that a sanitizer sees a read behind it */
        assert_non_null(exact);
        memcpy(exact, "\xf0\x9f\x98", length);
        bool valid;
        assert_int_equal(utf8_step(exact, length, &valid), length);
        assert_false(valid);
        free(exact);
    }
    assert_true(utf8_valid("", 0));
}

static void no_input_grows_beyond_the_promise(void **state)
{
    (void)state;
    uint32_t random = 1;
    for (int round = 0; round < 20000; round++) {
        char text[24];
        char out[UTF8_GROWTH * sizeof(text)];
        for (size_t i = 0; i < sizeof(text); i++) {
            random = random * 1664525u + 1013904223u;
            text[i] = (char)(random >> 24);
        }
        size_t written = utf8_sanitize(out, text, sizeof(text));
        assert_true(written <= sizeof(out));
        assert_true(utf8_valid(out, written));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_character_but_nul_and_surrogates_is_well_formed),
        cmocka_unit_test(three_bytes_hold_as_many_characters_as_unicode_has),
        cmocka_unit_test(errors_become_one_replacement_each),
        cmocka_unit_test(nul_bytes_are_replaced),
        cmocka_unit_test(the_end_of_the_text_is_respected),
        cmocka_unit_test(no_input_grows_beyond_the_promise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
