/* hook_eh_reader_test.c: numbers and pointers of .eh_frame, and where reading them stops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/hook_eh_reader.h"

static struct eh_reader reader_of(const void *bytes, size_t size)
{
    return (struct eh_reader){bytes, (const uint8_t *)bytes + size, false};
}

static void test_leb128_numbers_of_the_standard_are_read(void **state)
{
    static const struct {
        const char *bytes;
        uint64_t value;
    } rows[] = {{"\x02", 2}, {"\x7f", 127}, {"\x80\x01", 128}, {"\xb9\x64", 12857}};
    static const struct {
        const char *bytes;
        int64_t value;
    } signed_rows[] = {{"\x02", 2},        {"\x7e", -2},      {"\xff\x00", 127},
                       {"\x81\x7f", -127}, {"\x80\x01", 128}, {"\x80\x7f", -128}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct eh_reader in = reader_of(rows[i].bytes, 2);
        assert_int_equal(eh_uleb(&in), rows[i].value);
        assert_false(in.bad);
    }
    for (size_t i = 0; i < sizeof(signed_rows) / sizeof(signed_rows[0]); i++) {
        struct eh_reader in = reader_of(signed_rows[i].bytes, 2);
        assert_int_equal(eh_sleb(&in), signed_rows[i].value);
        assert_false(in.bad);
    }
}

static void test_a_leb128_of_64_bits_is_whole_and_a_longer_one_is_bad(void **state)
{
    struct eh_reader in = reader_of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
    (void)state;
    assert_int_equal(eh_uleb(&in), UINT64_MAX);
    assert_false(in.bad);
    in = reader_of("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 10);
    assert_int_equal(eh_sleb(&in), INT64_MIN);
    assert_false(in.bad);
    in = reader_of("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11);
    assert_int_equal(eh_uleb(&in), 0);
    assert_true(in.bad);
}

static void test_a_read_past_the_end_is_bad_and_stays_bad(void **state)
{
    struct eh_reader in = reader_of("\1\2\3", 3);
    (void)state;
    assert_int_equal(eh_unsigned(&in, 2), 0x0201);
    assert_int_equal(eh_unsigned(&in, 2), 0);
    assert_true(in.bad);
    assert_int_equal(eh_unsigned(&in, 1), 0);
    in = reader_of("\x80", 1);
    eh_uleb(&in);
    assert_true(in.bad);
    in = reader_of("abc", 3);
    eh_skip(&in, UINT64_MAX);
    assert_true(in.bad);
}

static void test_pointers_count_from_what_their_encoding_says(void **state)
{
    static const uint8_t bytes[8] = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
    static const struct {
        uint8_t encoding;
        uint64_t value;
        bool here; /* counts from the bytes themselves */
    } rows[] = {
        {EH_PE_ABSPTR, 0x7ffffffffffffffe, false},
        {EH_PE_UDATA2, 0xfffe, false},
        {EH_PE_SDATA2, UINT64_MAX - 1, false},
        {EH_PE_UDATA4, 0xfffffffe, false},
        {EH_PE_SDATA4 | EH_PE_PCREL, UINT64_MAX - 1, true},
        {EH_PE_SDATA4 | EH_PE_DATAREL, 1000 - 2, false},
        {EH_PE_UDATA8 | EH_PE_DATAREL, UINT64_C(0x7ffffffffffffffe) + 1000, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct eh_reader in = reader_of(bytes, sizeof(bytes));
        uint64_t expected = rows[i].value + (rows[i].here ? (uintptr_t)bytes : 0);
        assert_int_equal(eh_pointer(&in, rows[i].encoding, 1000), expected);
        assert_false(in.bad);
    }
}

static void test_encodings_that_need_more_than_arithmetic_are_bad(void **state)
{
    static const uint8_t encodings[] = {0x05, 0x08, 0x20, 0x40, EH_PE_ALIGNED, 0x9b, EH_PE_OMIT};
    (void)state;
    for (size_t i = 0; i < sizeof(encodings); i++) {
        struct eh_reader in = reader_of("12345678abcdefgh", 16);
        eh_pointer(&in, encodings[i], 0);
        assert_true(in.bad);
    }
}

static void test_an_indirect_pointer_is_skipped_by_its_size(void **state)
{
    static const uint8_t bytes[32] __attribute__((aligned(8))) = {0};
    struct eh_reader in = reader_of(bytes, sizeof(bytes));
    (void)state;
    eh_skip_pointer(&in, 0x9b);
    assert_ptr_equal(in.at, bytes + 4);
    eh_skip_pointer(&in, EH_PE_OMIT);
    assert_ptr_equal(in.at, bytes + 4);
    eh_skip_pointer(&in, EH_PE_ALIGNED);
    assert_ptr_equal(in.at, bytes + 16);
    assert_false(in.bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leb128_numbers_of_the_standard_are_read),
        cmocka_unit_test(test_a_leb128_of_64_bits_is_whole_and_a_longer_one_is_bad),
        cmocka_unit_test(test_a_read_past_the_end_is_bad_and_stays_bad),
        cmocka_unit_test(test_pointers_count_from_what_their_encoding_says),
        cmocka_unit_test(test_encodings_that_need_more_than_arithmetic_are_bad),
        cmocka_unit_test(test_an_indirect_pointer_is_skipped_by_its_size),
    };
    return cmocka_run_group_tests_name("eh_reader", tests, NULL, NULL);
}
