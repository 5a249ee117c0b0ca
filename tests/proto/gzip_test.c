/* gzip_test.c: gzip in memory, both ways. */
#include "proto/gzip.h"

#include "proto/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define LIMIT ((size_t)64 << 20)

/* Packs with zlib itself: level 0 stores; header may be NULL. */
static uint8_t *packed(const void *bytes, size_t size, int level, gz_header *header,
                       size_t *packed_size)
{
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, level, Z_DEFLATED, 16 + MAX_WBITS, 8, 0), Z_OK);
    if (header)
        assert_int_equal(deflateSetHeader(&stream, header), Z_OK);
    size_t room = deflateBound(&stream, size) + 1000;
    uint8_t *out = malloc(room);
    assert_non_null(out);
    stream.next_in = bytes;
    stream.avail_in = (uInt)size;
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    *packed_size = stream.total_out;
    deflateEnd(&stream);
    return out;
}

static void assert_unpacks(const uint8_t *bytes, size_t size, const void *expected,
                           size_t expected_size)
{
    struct error error = {0};
    uint8_t *out;
    size_t out_size;
    assert_true(gzip_inflate(bytes, size, LIMIT, "file", &out, &out_size, &error));
    assert_int_equal(out_size, expected_size);
    assert_memory_equal(out, expected, expected_size);
    free(out);
}

static void assert_refused(const uint8_t *bytes, size_t size, size_t limit, const char *expected)
{
    struct error error = {0};
    uint8_t *out;
    size_t out_size;
    assert_false(gzip_inflate(bytes, size, limit, "file", &out, &out_size, &error));
    assert_string_equal(error.text, expected);
}

static void members_stored_blocks_and_header_fields_are_read(void **state)
{
    (void)state;
    uint8_t extra[] = "extra field";
    uint8_t name[] = "heap.prof";
    gz_header header = {.extra = extra, .extra_len = sizeof(extra), .name = name, .time = 12345};
    size_t first_size;
    size_t second_size;
    uint8_t *first = packed("first ", 6, 0, &header, &first_size);
    uint8_t *second = packed("second", 6, 9, NULL, &second_size);
    assert_unpacks(first, first_size, "first ", 6);
    uint8_t *both = malloc(first_size + second_size);
    assert_non_null(both);
    memcpy(both, first, first_size);
    memcpy(both + first_size, second, second_size);
    assert_unpacks(both, first_size + second_size, "first second", 12);
    free(both);
    free(first);
    free(second);
}

static void every_truncation_is_refused(void **state)
{
    (void)state;
    char text[5000];
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)(i * i >> 3);
    size_t size;
    uint8_t *bytes = packed(text, sizeof(text), 6, NULL, &size);
    for (size_t cut = 0; cut < size; cut++)
        assert_refused(bytes, cut, LIMIT, "file: truncated gzip");
    assert_unpacks(bytes, size, text, sizeof(text));
    free(bytes);
}

static void a_wrong_checksum_and_garbage_behind_are_refused(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = packed("text", 4, 6, NULL, &size);
    bytes[size - 8] ^= 1;
    assert_refused(bytes, size, LIMIT, "file: corrupt gzip: incorrect data check");
    bytes[size - 8] ^= 1;
    bytes[size] = 'x'; /* packed leaves room */
    bytes[size + 1] = 'y';
    assert_refused(bytes, size + 2, LIMIT, "file: corrupt gzip: incorrect header check");
    free(bytes);
}

static void more_than_the_limit_is_refused_and_the_limit_itself_is_not(void **state)
{
    (void)state;
    size_t zeros = (size_t)8 << 20;
    uint8_t *plain = calloc(zeros, 1);
    assert_non_null(plain);
    size_t size;
    uint8_t *bytes = packed(plain, zeros, 6, NULL, &size);
    assert_true(size < zeros / 900);
    assert_refused(bytes, size, zeros - 1, "file: too large: more than 7 MiB when unpacked");
    struct error error;
    uint8_t *out;
    size_t out_size;
    assert_true(gzip_inflate(bytes, size, zeros, "file", &out, &out_size, &error));
    assert_int_equal(out_size, zeros);
    free(out);
    free(bytes);
    free(plain);
}

static void what_is_written_reads_back_and_has_no_time_in_it(void **state)
{
    (void)state;
    enum { SIZE = 3000000 };
    uint8_t *plain = malloc(SIZE);
    assert_non_null(plain);
    uint32_t random = 7;
    for (size_t i = 0; i < SIZE; i++) {
        random = random * 1664525u + 1013904223u;
        plain[i] = (uint8_t)(random >> 28);
    }
    struct error error;
    struct gzip_writer writer;
    assert_true(gzip_writer_init(&writer, &error));
    for (size_t at = 0; at < SIZE;) {
        size_t part = at % 1000 + 1 < SIZE - at ? at % 1000 + 1 : SIZE - at;
        assert_true(gzip_writer_add(&writer, plain + at, part, &error));
        at += part;
    }
    uint8_t *bytes;
    size_t size;
    assert_true(gzip_writer_finish(&writer, &bytes, &size, &error));
    gzip_writer_done(&writer);
    assert_true(gzip_is(bytes, size));
    assert_int_equal(bytes[3], 0); /* no name, no extra field */
    assert_memory_equal(bytes + 4, "\0\0\0\0", 4);
    assert_unpacks(bytes, size, plain, SIZE);
    free(bytes);
    free(plain);
}

static void an_unfinished_writer_is_freed(void **state)
{
    (void)state;
    struct error error;
    struct gzip_writer writer;
    assert_true(gzip_writer_init(&writer, &error));
    assert_true(gzip_writer_add(&writer, (const uint8_t *)"text", 4, &error));
    gzip_writer_done(&writer);
    assert_null(writer.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_stored_blocks_and_header_fields_are_read),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(a_wrong_checksum_and_garbage_behind_are_refused),
        cmocka_unit_test(more_than_the_limit_is_refused_and_the_limit_itself_is_not),
        cmocka_unit_test(what_is_written_reads_back_and_has_no_time_in_it),
        cmocka_unit_test(an_unfinished_writer_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
