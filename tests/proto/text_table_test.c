/* text_table_test.c: each text once, numbered. */
#include "proto/text_table.h"

#include "proto/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static void equal_texts_are_one_entry_numbered_by_first_use(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct text_table table;
    text_table_init(&table, arena);
    assert_int_equal(text_table_add(&table, NULL, 0)->index, 0);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 1; i <= 5000; i++) {
            char name[32];
            int length = snprintf(name, sizeof(name), "name %zu", i);
            const struct text *text = text_table_add(&table, name, (size_t)length);
            assert_int_equal(text->index, i);
            assert_string_equal(text->bytes, name);
            assert_ptr_equal(table.texts[i], text);
        }
    }
    assert_int_equal(table.count, 5001);
    assert_string_equal(table.texts[0]->bytes, "");
    text_table_done(&table);
    arena_free(arena);
}

static void only_the_given_length_counts(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct text_table table;
    text_table_init(&table, arena);
    const struct text *abc = text_table_add(&table, "abcdef", 3);
    assert_string_equal(abc->bytes, "abc");
    assert_ptr_equal(text_table_add(&table, "abcxyz", 3), abc);
    assert_ptr_not_equal(text_table_add(&table, "abcd", 4), abc);
    text_table_done(&table);
    arena_free(arena);
}

static void ill_formed_text_is_stored_well_formed(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct text_table table;
    text_table_init(&table, arena);
    const struct text *text = text_table_add(&table, "a\xff\0b", 4);
    assert_string_equal(text->bytes, "a\xef\xbf\xbd\xef\xbf\xbd"
                                     "b");
    assert_int_equal(text->length, strlen(text->bytes));
    assert_ptr_equal(text_table_add(&table, text->bytes, text->length), text);
    text_table_done(&table);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_are_one_entry_numbered_by_first_use),
        cmocka_unit_test(only_the_given_length_counts),
        cmocka_unit_test(ill_formed_text_is_stored_well_formed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
