/* pprof_writer_test.c: what is written, read back by ourselves, by hand and by go tool pprof. */
#include "proto/pprof.h"

#include "proto/error.h"
#include "proto/gzip.h"
#include "proto/profile.h"
#include "proto/profile.pb-c.h"
#include "proto/wire.h"
#include "tests/proto/profile_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT ((size_t)64 << 20)

static uint8_t *encode(const struct profile *profile, size_t *size)
{
    struct error error = {0};
    uint8_t *bytes;
    assert_true(pprof_encode(profile, &bytes, size, &error));
    return bytes;
}

static uint8_t *encode_raw(const struct profile *profile, size_t *raw_size)
{
    size_t size;
    uint8_t *bytes = encode(profile, &size);
    uint8_t *raw;
    assert_true(gzip_inflate(bytes, size, LIMIT, "file", &raw, raw_size, NULL));
    free(bytes);
    return raw;
}

static Pprof__Profile *encode_message(const struct profile *profile)
{
    size_t size;
    uint8_t *raw = encode_raw(profile, &size);
    Pprof__Profile *message = pprof__profile__unpack(NULL, size, raw);
    assert_non_null(message);
    free(raw);
    return message;
}

static void assert_same_label(const struct profile_label *one, const struct profile_label *other)
{
    assert_string_equal(one->key, other->key);
    assert_int_equal(one->str != NULL, other->str != NULL);
    if (one->str)
        assert_string_equal(one->str, other->str);
    assert_int_equal(one->num, other->num);
    assert_string_equal(one->num_unit, other->num_unit);
}

static void assert_same_mapping(const struct profile_mapping *one,
                                const struct profile_mapping *other)
{
    assert_int_equal(one != NULL, other != NULL);
    if (!one)
        return;
    assert_int_equal(one->index, other->index);
    assert_int_equal(one->memory_start, other->memory_start);
    assert_int_equal(one->memory_limit, other->memory_limit);
    assert_int_equal(one->file_offset, other->file_offset);
    assert_string_equal(one->filename, other->filename);
    assert_string_equal(one->build_id, other->build_id);
    assert_int_equal(one->has_functions, other->has_functions);
    assert_int_equal(one->has_filenames, other->has_filenames);
    assert_int_equal(one->has_line_numbers, other->has_line_numbers);
    assert_int_equal(one->has_inline_frames, other->has_inline_frames);
}

static void assert_same_location(const struct profile_location *one,
                                 const struct profile_location *other)
{
    assert_same_mapping(one->mapping, other->mapping);
    assert_int_equal(one->address, other->address);
    assert_int_equal(one->is_folded, other->is_folded);
    assert_int_equal(one->line_count, other->line_count);
    for (uint32_t i = 0; i < one->line_count; i++) {
        const struct profile_function *function = one->lines[i].function;
        const struct profile_function *twin = other->lines[i].function;
        assert_int_equal(one->lines[i].line, other->lines[i].line);
        assert_int_equal(one->lines[i].column, other->lines[i].column);
        assert_string_equal(function->name, twin->name);
        assert_string_equal(function->system_name, twin->system_name);
        assert_string_equal(function->filename, twin->filename);
        assert_int_equal(function->start_line, twin->start_line);
    }
}

static void assert_same_sample(const struct profile_sample *one, const struct profile_sample *other,
                               uint32_t values)
{
    assert_int_equal(one->location_count, other->location_count);
    for (uint32_t i = 0; i < one->location_count; i++)
        assert_same_location(one->locations[i], other->locations[i]);
    assert_memory_equal(one->values, other->values, values * sizeof(int64_t));
    assert_int_equal(one->label_count, other->label_count);
    for (uint32_t i = 0; i < one->label_count; i++)
        assert_same_label(&one->labels[i], &other->labels[i]);
    assert_memory_equal(&one->extra, &other->extra, sizeof(one->extra));
}

static void assert_same_head(const struct profile *one, const struct profile *other)
{
    assert_int_equal(one->sample_type_count, other->sample_type_count);
    for (uint32_t i = 0; i < one->sample_type_count; i++) {
        assert_string_equal(one->sample_types[i].type, other->sample_types[i].type);
        assert_string_equal(one->sample_types[i].unit, other->sample_types[i].unit);
    }
    assert_int_equal(one->comment_count, other->comment_count);
    for (uint32_t i = 0; i < one->comment_count; i++)
        assert_string_equal(one->comments[i], other->comments[i]);
    assert_int_equal(one->time_nanos, other->time_nanos);
    assert_int_equal(one->duration_nanos, other->duration_nanos);
    assert_string_equal(one->period_type.type, other->period_type.type);
    assert_string_equal(one->period_type.unit, other->period_type.unit);
    assert_int_equal(one->period, other->period);
    assert_string_equal(one->default_sample_type, other->default_sample_type);
    assert_string_equal(one->drop_frames, other->drop_frames);
    assert_string_equal(one->keep_frames, other->keep_frames);
}

static void a_profile_reads_back_as_it_was_written(void **state)
{
    (void)state;
    struct profile *profile = fixture_profile();
    size_t size;
    uint8_t *bytes = encode(profile, &size);
    struct error error = {0};
    struct profile *copy = pprof_decode(bytes, size, "file", &error);
    assert_non_null(copy);
    assert_same_head(profile, copy);
    assert_int_equal(copy->mapping_count, profile->mapping_count);
    for (uint32_t i = 0; i < profile->mapping_count; i++)
        assert_same_mapping(profile->mappings[i], copy->mappings[i]);
    static const size_t written[] = {0, 1, 3}; /* sample 2 is all zero */
    assert_int_equal(copy->sample_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_same_sample(profile->samples[written[i]], copy->samples[i],
                           profile->sample_type_count);
    free(bytes);
    profile_free(copy);
    profile_free(profile);
}

static void equal_profiles_give_equal_bytes(void **state)
{
    (void)state;
    struct profile *one = fixture_profile();
    struct profile *other = fixture_profile();
    size_t one_size;
    size_t other_size;
    uint8_t *one_bytes = encode(one, &one_size);
    uint8_t *other_bytes = encode(other, &other_size);
    assert_int_equal(one_size, other_size);
    assert_memory_equal(one_bytes, other_bytes, one_size);
    struct profile *again = pprof_decode(one_bytes, one_size, "file", NULL);
    assert_non_null(again);
    size_t again_size;
    uint8_t *again_bytes = encode(again, &again_size);
    assert_int_equal(again_size, one_size);
    assert_memory_equal(again_bytes, one_bytes, one_size);
    free(one_bytes);
    free(other_bytes);
    free(again_bytes);
    profile_free(one);
    profile_free(other);
    profile_free(again);
}

static void ids_count_from_one_and_only_what_is_used_is_written(void **state)
{
    (void)state;
    struct profile *profile = fixture_profile();
    struct profile_line unused = {.function = profile_function(profile, "unused", "", "", 0)};
    profile_set_lines(profile, profile_location(profile, NULL, 0xdead), &unused, 1);
    struct profile_location *last = profile_location(profile, NULL, 0xbeef);
    int64_t values[6] = {1};
    profile_add_sample(profile, &last, 1, values);
    Pprof__Profile *message = encode_message(profile);
    assert_int_equal(message->n_mapping, 2);
    assert_int_equal(message->n_location, 4);
    assert_int_equal(message->n_function, 3);
    for (size_t i = 0; i < message->n_mapping; i++)
        assert_int_equal(message->mapping[i]->id, i + 1);
    for (size_t i = 0; i < message->n_location; i++)
        assert_int_equal(message->location[i]->id, i + 1);
    for (size_t i = 0; i < message->n_function; i++)
        assert_int_equal(message->function[i]->id, i + 1);
    assert_int_equal(message->location[3]->address, 0xbeef);
    pprof__profile__free_unpacked(message, NULL);
    profile_free(profile);
}

static void strings_are_unique_and_the_first_is_empty(void **state)
{
    (void)state;
    struct profile *profile = fixture_profile();
    char apart[] = "bytes"; /* equal to a string in use, but another pointer */
    profile->default_sample_type = apart;
    Pprof__Profile *message = encode_message(profile);
    assert_int_equal(message->string_table[0].len, 0);
    for (size_t i = 0; i < message->n_string_table; i++) {
        for (size_t j = 0; j < i; j++) {
            const ProtobufCBinaryData *one = &message->string_table[i];
            const ProtobufCBinaryData *other = &message->string_table[j];
            assert_false(one->len == other->len && memcmp(one->data, other->data, one->len) == 0);
        }
    }
    pprof__profile__free_unpacked(message, NULL);
    profile_free(profile);
}

/* How often each field number below 32 occurs in a message; others fail. */
static void count_fields(const uint8_t *bytes, size_t size, size_t counts[32])
{
    struct wire_reader reader = {.bytes = bytes, .size = size};
    struct wire_field field;
    memset(counts, 0, 32 * sizeof(counts[0]));
    while (wire_next(&reader, &field, NULL) == WIRE_FIELD) {
        assert_true(field.number < 32);
        counts[field.number]++;
    }
    assert_int_equal(reader.offset, size);
}

static void the_top_level_has_public_fields_alone_and_one_time(void **state)
{
    (void)state;
    struct profile *profile = fixture_profile();
    size_t size;
    uint8_t *raw = encode_raw(profile, &size);
    size_t counts[32];
    count_fields(raw, size, counts);
    for (size_t number = 15; number < 32; number++)
        assert_int_equal(counts[number], 0);
    for (size_t number = 7; number <= 14; number++)
        assert_int_equal(counts[number], 1); /* comments are packed into one */
    free(raw);
    profile_free(profile);
}

static void a_sample_has_fields_of_our_own_only_with_values_in_them(void **state)
{
    (void)state;
    struct profile *profile = fixture_profile();
    profile->sample_count = 2; /* the first with, the second without */
    Pprof__Profile *message = encode_message(profile);
    assert_true(message->sample[0]->inuse_space_variance == 2e15);
    assert_int_equal(message->sample[0]->peak_samples, 8);
    uint8_t bytes[256];
    size_t size = pprof__sample__pack(message->sample[1], bytes);
    size_t counts[32];
    count_fields(bytes, size, counts); /* refuses numbers from 32 up */
    assert_int_equal(counts[1], 1);    /* packed */
    assert_int_equal(counts[2], 1);
    pprof__profile__free_unpacked(message, NULL);
    profile->sample_count = 4;
    profile_free(profile);
}

static void an_empty_profile_can_be_written_and_read(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    fixture_sample_types(profile);
    size_t size;
    uint8_t *bytes = encode(profile, &size);
    struct profile *copy = pprof_decode(bytes, size, "file", NULL);
    assert_non_null(copy);
    assert_same_head(profile, copy);
    assert_int_equal(copy->sample_count, 0);
    free(bytes);
    profile_free(copy);
    profile_free(profile);
}

static void a_large_profile_reads_back_with_the_same_totals(void **state)
{
    (void)state;
    enum { LOCATIONS = 20000, SAMPLES = 50000, DEPTH = 20 };
    struct profile *profile = profile_new();
    profile_add_sample_type(profile, "space", "bytes");
    for (uint32_t i = 0; i < LOCATIONS; i++)
        profile_location(profile, NULL, i * 16);
    uint64_t addresses = 0;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        struct profile_location *stack[DEPTH];
        for (uint32_t frame = 0; frame < DEPTH; frame++) {
            stack[frame] = profile->locations[(i * 7919u + frame * 104729u) % LOCATIONS];
            addresses += stack[frame]->address;
        }
        profile_add_sample(profile, stack, DEPTH, (int64_t[]){i + 1});
    }
    size_t size;
    uint8_t *bytes = encode(profile, &size);
    struct profile *copy = pprof_decode(bytes, size, "file", NULL);
    assert_non_null(copy);
    assert_int_equal(copy->sample_count, SAMPLES);
    for (size_t i = 0; i < copy->sample_count; i++) {
        assert_int_equal(copy->samples[i]->values[0], i + 1);
        for (uint32_t frame = 0; frame < DEPTH; frame++)
            addresses -= copy->samples[i]->locations[frame]->address;
    }
    assert_int_equal(addresses, 0);
    free(bytes);
    profile_free(copy);
    profile_free(profile);
}

/* What "go tool pprof -raw" says about the profile; go is a package that the tests install. */
static void go_pprof_raw(const struct profile *profile, char *said, size_t room)
{
    assert_int_equal(system("command -v go >/dev/null 2>&1"), 0);
    char path[] = "/tmp/heapprof-test-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    size_t size;
    uint8_t *bytes = encode(profile, &size);
    assert_int_equal(write(file, bytes, size), size);
    close(file);
    free(bytes);
    char command[128];
    snprintf(command, sizeof(command), "go tool pprof -symbolize=none -raw %s 2>&1", path);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    size_t used = fread(said, 1, room - 1, output);
    said[used] = '\0';
    int status = pclose(output);
    unlink(path);
    if (status != 0)
        fail_msg("go tool pprof: %s", said);
}

static void go_tool_pprof_reads_what_is_written(void **state)
{
    (void)state;
    struct profile *profile = fixture_profile();
    char said[8192];
    go_pprof_raw(profile, said, sizeof(said));
    static const char *const expected[] = {
        "PeriodType: space bytes\nPeriod: 524288\n",
        "Duration: 1.5",
        "inuse_space/bytes[dflt]",
        "         10       1000          4        400          7        700: 1 2 3 ",
        "bytes:[96 bytes] tid:[-7]",
        "thread:[worker;\"1\"]",
        "9223372036854775807",
        "-9223372036854775808",
        "1: 0x401234 M=1 inner /src/inner.h:12",
        "outer /src/outer.cc:22",
        "2: 0x7f0000000567 M=2 ",
        "3: 0x0 caf\xc3\xa9<main> /src/main.c:32",
        "1: 0x400000/0x500000/0x1000 /usr/bin/app with space 0123456789abcdef [FN][LN]",
        "2: 0x7f0000000000/0x7f0000100000/0x0 /lib/libfoo.so  [FL][IN]",
    };
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        if (!strstr(said, expected[i]))
            fail_msg("not found: %s\nin: %s", expected[i], said);
    }
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_profile_reads_back_as_it_was_written),
        cmocka_unit_test(equal_profiles_give_equal_bytes),
        cmocka_unit_test(ids_count_from_one_and_only_what_is_used_is_written),
        cmocka_unit_test(strings_are_unique_and_the_first_is_empty),
        cmocka_unit_test(the_top_level_has_public_fields_alone_and_one_time),
        cmocka_unit_test(a_sample_has_fields_of_our_own_only_with_values_in_them),
        cmocka_unit_test(an_empty_profile_can_be_written_and_read),
        cmocka_unit_test(a_large_profile_reads_back_with_the_same_totals),
        cmocka_unit_test(go_tool_pprof_reads_what_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
