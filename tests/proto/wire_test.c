/* wire_test.c: protobuf messages split into fields. */
#include "proto/wire.h"

#include "proto/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#define READER(text)                                                                               \
    {                                                                                              \
        .bytes = (const uint8_t *)(text), .size = sizeof(text) - 1, .name = "file"                 \
    }

static void all_four_kinds_of_field_are_split(void **state)
{
    (void)state;
    struct wire_reader reader = READER("\x08\x96\x01"                         /* 1: varint */
                                       "\x11\x01\x02\x03\x04\x05\x06\x07\x08" /* 2: 64 bits */
                                       "\x1a\x03"
                                       "abc"                  /* 3: bytes */
                                       "\x25\x01\x02\x03\x04" /* 4: 32 bits */
                                       "\xfa\xff\xff\xff\x0f\x00");
    static const struct wire_field expected[] = {
        {.number = 1, .type = WIRE_VARINT, .offset = 0, .size = 3},
        {.number = 2, .type = WIRE_FIXED64, .offset = 3, .size = 9},
        {.number = 3, .type = WIRE_BYTES, .offset = 12, .size = 5},
        {.number = 4, .type = WIRE_FIXED32, .offset = 17, .size = 5},
        {.number = 0x1fffffff, .type = WIRE_BYTES, .offset = 22, .size = 6},
    };
    struct error error;
    struct wire_field field;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        assert_int_equal(wire_next(&reader, &field, &error), WIRE_FIELD);
        assert_int_equal(field.number, expected[i].number);
        assert_int_equal(field.type, expected[i].type);
        assert_int_equal(field.offset, expected[i].offset);
        assert_int_equal(field.size, expected[i].size);
    }
    assert_int_equal(wire_next(&reader, &field, &error), WIRE_END);
    assert_int_equal(wire_next(&reader, &field, &error), WIRE_END);
}

static void assert_broken(struct wire_reader reader, const char *expected)
{
    struct error error = {0};
    struct wire_field field;
    assert_int_equal(wire_next(&reader, &field, &error), WIRE_BROKEN);
    assert_string_equal(error.text, expected);
    assert_int_equal(reader.offset, 0);
}

static void broken_fields_are_told_with_place_and_reason(void **state)
{
    (void)state;
    assert_broken((struct wire_reader)READER("\x80"),
                  "file: truncated: it ends inside the field at byte 0");
    assert_broken((struct wire_reader)READER("\x08\x80"),
                  "file: truncated: it ends inside the field at byte 0");
    assert_broken((struct wire_reader)READER("\x0a\x05xyz"),
                  "file: truncated: 5 bytes promised at byte 0, 3 are there");
    assert_broken((struct wire_reader)READER("\x11\x01"),
                  "file: truncated: 8 bytes promised at byte 0, 1 are there");
    assert_broken((struct wire_reader)READER("\x25\x01"),
                  "file: truncated: 4 bytes promised at byte 0, 1 are there");
    assert_broken((struct wire_reader)READER("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x"),
                  "file: truncated: 18446744073709551615 bytes promised at byte 0, 1 are there");
    assert_broken((struct wire_reader)READER("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"),
                  "file: corrupt: a number of more than 10 bytes at byte 0");
    assert_broken((struct wire_reader)READER("\x0b"), /* a group */
                  "file: corrupt: no protobuf field at byte 0");
    assert_broken((struct wire_reader)READER("\x0e\x01"), /* wire type 6 */
                  "file: corrupt: no protobuf field at byte 0");
    assert_broken((struct wire_reader)READER("\x00\x01"), /* field 0 */
                  "file: corrupt: no protobuf field at byte 0");
    assert_broken((struct wire_reader)READER("\x80\x80\x80\x80\x10\x01"), /* field 2^29 */
                  "file: corrupt: no protobuf field at byte 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_four_kinds_of_field_are_split),
        cmocka_unit_test(broken_fields_are_told_with_place_and_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
