/* foreign_format_test.c: what a file is that is no pprof profile. */
#include "proto/foreign_format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static const char *name_of(const char *bytes, size_t size)
{
    return foreign_format_name((const uint8_t *)bytes, size);
}

static void heap_dumps_of_other_tools_are_named(void **state)
{
    (void)state;
    static const char jemalloc[] = "heap_v2/524288\n  t*: 1: 8 [0: 0]\n";
    static const char gperftools[] = "heap profile:   1011:   240960 [  6110:  5510960] @ heap\n";
    assert_string_equal(name_of(jemalloc, strlen(jemalloc)), "a jemalloc heap dump (text)");
    assert_string_equal(name_of(gperftools, strlen(gperftools)),
                        "a gperftools heap profile (text)");
}

static void only_the_beginning_counts_and_nothing_behind_the_end(void **state)
{
    (void)state;
    assert_null(name_of("x heap_v2/", 10));
    assert_null(name_of("heap_v2/", 7));
    assert_null(name_of("", 0));
    assert_string_equal(name_of("\177ELF", 4), "an ELF file");
}

static void text_is_told_from_protobuf(void **state)
{
    (void)state;
    assert_true(foreign_format_is_text((const uint8_t *)"main;work 3\n\tcaf\xc3\xa9", 18));
    assert_false(foreign_format_is_text((const uint8_t *)"\x0a\x04\x08\x01\x10\x02", 6));
    assert_false(foreign_format_is_text((const uint8_t *)"a\0", 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heap_dumps_of_other_tools_are_named),
        cmocka_unit_test(only_the_beginning_counts_and_nothing_behind_the_end),
        cmocka_unit_test(text_is_told_from_protobuf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
