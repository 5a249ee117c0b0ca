/* pprof_reader_test.c: pprof messages made by hand, right and wrong in one place each. */
#include "proto/pprof.h"

#include "proto/error.h"
#include "proto/gzip.h"
#include "proto/profile.h"
#include "proto/profile.pb-c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A valid message: one sample over one location with one line. Tests change a part and pack it. */
struct message {
    Pprof__Profile profile;
    Pprof__ValueType type, *type_list[1];
    Pprof__Sample sample, *sample_list[1];
    Pprof__Mapping mapping, *mapping_list[2];
    Pprof__Location location, *location_list[2];
    Pprof__Function function, *function_list[2];
    Pprof__Line line, *line_list[1];
    Pprof__Label label, *label_list[1];
    ProtobufCBinaryData strings[8];
    uint64_t location_ids[1];
    int64_t values[2];
};

static void message_strings(struct message *message)
{
    static const char *const texts[] = {"", "space", "bytes", "/bin/app", "main", "main.c", "key"};
    message->profile.n_string_table = sizeof(texts) / sizeof(texts[0]);
    message->profile.string_table = message->strings;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        message->strings[i].len = strlen(texts[i]);
        message->strings[i].data = (uint8_t *)(uintptr_t)texts[i];
    }
}

#define LIST(owner, member, element)                                                               \
    do {                                                                                           \
        message->element##_list[0] = &message->element;                                            \
        message->owner.n_##member = 1;                                                             \
        message->owner.member = message->element##_list;                                           \
    } while (0)

static void message_init(struct message *message)
{
    memset(message, 0, sizeof(*message));
    pprof__profile__init(&message->profile);
    pprof__value_type__init(&message->type);
    pprof__sample__init(&message->sample);
    pprof__mapping__init(&message->mapping);
    pprof__location__init(&message->location);
    pprof__function__init(&message->function);
    pprof__line__init(&message->line);
    pprof__label__init(&message->label);
    message_strings(message);
    LIST(profile, sample_type, type);
    LIST(profile, sample, sample);
    LIST(profile, mapping, mapping);
    LIST(profile, location, location);
    LIST(profile, function, function);
    LIST(location, line, line);
    LIST(sample, label, label);
    message->type.type = 1;
    message->type.unit = 2;
    message->mapping.id = 5;
    message->mapping.filename = 3;
    message->function.id = UINT64_MAX;
    message->function.name = 4;
    message->function.filename = 5;
    message->location.id = 1ull << 40;
    message->location.mapping_id = 5;
    message->location.address = 0x1234;
    message->line.function_id = UINT64_MAX;
    message->line.line = 17;
    message->label.key = 6;
    message->label.num = 3;
    message->location_ids[0] = 1ull << 40;
    message->sample.n_location_id = 1;
    message->sample.location_id = message->location_ids;
    message->values[0] = 42;
    message->sample.n_value = 1;
    message->sample.value = message->values;
}

static struct profile *decode(const struct message *message, struct error *error)
{
    size_t size = pprof__profile__get_packed_size(&message->profile);
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    pprof__profile__pack(&message->profile, bytes);
    struct profile *profile = pprof_decode(bytes, size, "file", error);
    free(bytes);
    return profile;
}

static struct profile *decode_valid(const struct message *message)
{
    struct error error = {0};
    struct profile *profile = decode(message, &error);
    if (!profile)
        fail_msg("%s", error.text);
    return profile;
}

static void assert_refused(const struct message *message, const char *expected)
{
    struct error error = {0};
    assert_null(decode(message, &error));
    assert_string_equal(error.text, expected);
}

static void a_valid_message_becomes_the_same_profile(void **state)
{
    (void)state;
    struct message message;
    message_init(&message);
    struct profile *profile = decode_valid(&message);
    assert_string_equal(profile->sample_types[0].type, "space");
    assert_string_equal(profile->sample_types[0].unit, "bytes");
    const struct profile_sample *sample = profile->samples[0];
    assert_int_equal(sample->values[0], 42);
    const struct profile_location *location = sample->locations[0];
    assert_int_equal(location->address, 0x1234);
    assert_string_equal(location->mapping->filename, "/bin/app");
    assert_string_equal(location->lines[0].function->name, "main");
    assert_string_equal(location->lines[0].function->filename, "main.c");
    assert_int_equal(location->lines[0].line, 17);
    assert_string_equal(sample->labels[0].key, "key");
    assert_int_equal(sample->labels[0].num, 3);
    profile_free(profile);
}

static void string_indexes_out_of_range_are_refused(void **state)
{
    (void)state;
    struct message message;
    static const size_t fields[] = {
        offsetof(struct message, type.type),
        offsetof(struct message, type.unit),
        offsetof(struct message, mapping.filename),
        offsetof(struct message, mapping.build_id),
        offsetof(struct message, function.name),
        offsetof(struct message, function.filename),
        offsetof(struct message, label.key),
        offsetof(struct message, label.str),
        offsetof(struct message, label.num_unit),
        offsetof(struct message, profile.drop_frames),
        offsetof(struct message, profile.keep_frames),
        offsetof(struct message, profile.default_sample_type),
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        message_init(&message);
        int64_t *field = (int64_t *)(void *)((char *)&message + fields[i]);
        *field = 7;
        assert_refused(&message, "file: corrupt: string 7 of 7 is named");
        *field = -1;
        assert_refused(&message, "file: corrupt: string -1 of 7 is named");
        *field = INT64_MAX;
        assert_refused(&message, "file: corrupt: string 9223372036854775807 of 7 is named");
        *field = 6;
        profile_free(decode_valid(&message));
    }
}

static void comments_with_bad_indexes_are_refused(void **state)
{
    (void)state;
    struct message message;
    message_init(&message);
    int64_t comments[] = {1, 99};
    message.profile.n_comment = 2;
    message.profile.comment = comments;
    assert_refused(&message, "file: corrupt: string 99 of 7 is named");
}

static void the_first_string_must_be_empty(void **state)
{
    (void)state;
    struct message message;
    message_init(&message);
    message.strings[0] = message.strings[1];
    assert_refused(&message, "file: corrupt: the first string is not empty");
    message.profile.n_string_table = 0;
    assert_refused(&message, "file: corrupt: no string table");
}

static void ids_must_be_unique_and_not_zero(void **state)
{
    (void)state;
    struct message message;
    message_init(&message);
    message.mapping.id = 0;
    assert_refused(&message, "file: corrupt: a mapping has the id 0");
    message_init(&message);
    message.function.id = 0;
    assert_refused(&message, "file: corrupt: a function has the id 0");
    message_init(&message);
    message.location.id = 0;
    assert_refused(&message, "file: corrupt: a location has the id 0");

    message_init(&message);
    message.mapping_list[1] = &message.mapping;
    message.profile.n_mapping = 2;
    assert_refused(&message, "file: corrupt: two mappings have the id 5");
    message_init(&message);
    message.function_list[1] = &message.function;
    message.profile.n_function = 2;
    assert_refused(&message, "file: corrupt: two functions have the id 18446744073709551615");
    message_init(&message);
    message.location_list[1] = &message.location;
    message.profile.n_location = 2;
    assert_refused(&message, "file: corrupt: two locations have the id 1099511627776");
}

static void references_to_nothing_are_refused_but_for_mappings(void **state)
{
    (void)state;
    struct message message;
    message_init(&message);
    message.location_ids[0] = 3;
    assert_refused(&message, "file: corrupt: sample 1 names location 3, which does not exist");
    message_init(&message);
    message.line.function_id = 0;
    assert_refused(&message,
                   "file: corrupt: location 1099511627776 names function 0, which does not exist");
    message_init(&message);
    message.location.mapping_id = 77;
    struct profile *profile = decode_valid(&message);
    assert_null(profile->locations[0]->mapping);
    profile_free(profile);
}

static void samples_must_have_one_value_a_type(void **state)
{
    (void)state;
    struct message message;
    message_init(&message);
    message.sample.n_value = 2;
    assert_refused(&message, "file: corrupt: sample 1 has 2 values, there are 1 sample types");
    message.sample.n_value = 0;
    assert_refused(&message, "file: corrupt: sample 1 has 0 values, there are 1 sample types");
    message_init(&message);
    message.profile.n_sample_type = 0;
    assert_refused(&message, "file: corrupt: no sample types");
}

static void a_profile_without_samples_is_valid(void **state)
{
    (void)state;
    struct message message;
    message_init(&message);
    message.profile.n_sample = 0;
    struct profile *profile = decode_valid(&message);
    assert_int_equal(profile->sample_count, 0);
    profile_free(profile);
}

static void two_profiles_in_one_file_are_told(void **state)
{
    (void)state;
    struct message message;
    message_init(&message);
    message.profile.time_nanos = 1;
    size_t size = pprof__profile__get_packed_size(&message.profile);
    uint8_t *bytes = malloc(2 * size);
    assert_non_null(bytes);
    pprof__profile__pack(&message.profile, bytes);
    pprof__profile__pack(&message.profile, bytes + size);
    struct error error = {0};
    assert_null(pprof_decode(bytes, 2 * size, "file", &error));
    assert_string_equal(error.text, "file: several profiles one behind the other in one file");
    free(bytes);
}

static void bad_utf8_and_nul_bytes_in_strings_are_replaced(void **state)
{
    (void)state;
    struct message message;
    message_init(&message);
    static uint8_t name[] = {'a', 0xff, 0, 'z'};
    message.strings[4].data = name;
    message.strings[4].len = sizeof(name);
    struct profile *profile = decode_valid(&message);
    assert_string_equal(profile->functions[0]->name, "a\xef\xbf\xbd\xef\xbf\xbdz");
    profile_free(profile);
}

static void senseless_variances_are_dropped(void **state)
{
    (void)state;
    static const double senseless[] = {NAN, INFINITY, -INFINITY, -1};
    struct message message;
    message_init(&message);
    for (size_t i = 0; i < sizeof(senseless) / sizeof(senseless[0]); i++) {
        message.sample.alloc_space_variance = senseless[i];
        message.sample.peak_space_variance = 4;
        struct profile *profile = decode_valid(&message);
        assert_true(profile->samples[0]->extra.alloc_space_variance == 0);
        assert_true(profile->samples[0]->extra.peak_space_variance == 4);
        profile_free(profile);
    }
}

static void unknown_fields_are_skipped(void **state)
{
    (void)state;
    struct message message;
    message_init(&message);
    size_t size = pprof__profile__get_packed_size(&message.profile);
    static const uint8_t unknown[] = {0x78, 0x01,                     /* 15: doc_url */
                                      0xa2, 0x06, 0x02, 'x', 'y',     /* 100: bytes */
                                      0xad, 0x06, 1,    2,   3,   4}; /* 101: 32 bits */
    uint8_t *bytes = malloc(size + sizeof(unknown));
    assert_non_null(bytes);
    memcpy(bytes, unknown, sizeof(unknown));
    pprof__profile__pack(&message.profile, bytes + sizeof(unknown));
    struct error error = {0};
    struct profile *profile = pprof_decode(bytes, size + sizeof(unknown), "file", &error);
    assert_non_null(profile);
    profile_free(profile);
    free(bytes);
}

static void assert_bytes_refused(const char *bytes, size_t size, const char *expected)
{
    struct error error = {0};
    assert_null(pprof_decode((const uint8_t *)bytes, size, "file", &error));
    assert_string_equal(error.text, expected);
}

static void what_is_no_profile_is_called_so(void **state)
{
    (void)state;
    static const char text[] = "main;work;leaf 3\n";
    static const char jemalloc[] = "heap_v2/524288\n  t*: 1: 8 [0: 0]\n@ 0x1 0x2\n";
    static const char gperftools[] = "heap profile:  1:  2 [ 1:  2] @ heapprofile\n";
    static const char binary[] = "\xde\xad\xbe\xef\x00\x01\x02\x03";
    assert_bytes_refused(text, strlen(text), "file: not a pprof profile");
    assert_bytes_refused(binary, sizeof(binary), "file: not a pprof profile");
    assert_bytes_refused("", 0, "file: empty file");
    assert_bytes_refused(
        jemalloc, strlen(jemalloc),
        "file: not a pprof profile but a jemalloc heap dump (text), which cannot be read");
    assert_bytes_refused(
        gperftools, strlen(gperftools),
        "file: not a pprof profile but a gperftools heap profile (text), which cannot be read");
}

static void a_gzip_bomb_is_refused_before_it_is_large(void **state)
{
    (void)state;
    enum { PART = 1 << 20, PARTS = 300 };
    struct error error = {0};
    struct gzip_writer writer;
    uint8_t *zeros = calloc(PART, 1);
    assert_non_null(zeros);
    assert_true(gzip_writer_init(&writer, &error));
    assert_true(gzip_writer_add(&writer, zeros, PART, &error));
    uint8_t *member;
    size_t size;
    assert_true(gzip_writer_finish(&writer, &member, &size, &error));
    gzip_writer_done(&writer);
    uint8_t *bomb = malloc(PARTS * size);
    assert_non_null(bomb);
    for (size_t i = 0; i < PARTS; i++)
        memcpy(bomb + i * size, member, size);
    assert_null(pprof_decode(bomb, PARTS * size, "file", &error));
    assert_string_equal(error.text, "file: too large: more than 256 MiB when unpacked");
    free(bomb);
    free(member);
    free(zeros);
}

static void files_that_cannot_be_read_are_told_by_name(void **state)
{
    (void)state;
    struct error error = {0};
    assert_null(pprof_read_file("/nonexistent/heap.prof", &error));
    assert_string_equal(error.text,
                        "/nonexistent/heap.prof: cannot be opened: No such file or directory");
    assert_null(pprof_read_file("/", &error));
    assert_string_equal(error.text, "/: is a directory");
    assert_null(pprof_read_file("/dev/null", &error));
    assert_string_equal(error.text, "/dev/null: empty file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_valid_message_becomes_the_same_profile),
        cmocka_unit_test(string_indexes_out_of_range_are_refused),
        cmocka_unit_test(comments_with_bad_indexes_are_refused),
        cmocka_unit_test(the_first_string_must_be_empty),
        cmocka_unit_test(ids_must_be_unique_and_not_zero),
        cmocka_unit_test(references_to_nothing_are_refused_but_for_mappings),
        cmocka_unit_test(samples_must_have_one_value_a_type),
        cmocka_unit_test(a_profile_without_samples_is_valid),
        cmocka_unit_test(two_profiles_in_one_file_are_told),
        cmocka_unit_test(bad_utf8_and_nul_bytes_in_strings_are_replaced),
        cmocka_unit_test(senseless_variances_are_dropped),
        cmocka_unit_test(unknown_fields_are_skipped),
        cmocka_unit_test(what_is_no_profile_is_called_so),
        cmocka_unit_test(a_gzip_bomb_is_refused_before_it_is_large),
        cmocka_unit_test(files_that_cannot_be_read_are_told_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
