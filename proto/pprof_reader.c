/* pprof_reader.c: a pprof file becomes a profile.
 *
 * The file is split into its top-level fields (wire.h), and protobuf-c decodes one field at a time,
 * as a message that has only this field: what is decoded never takes more memory than one sample.
 * Fields may come in any order, but refer to each other, so the bytes are gone through several
 * times: first whether they are fields at all, then strings, then what is made of strings, then
 * locations, then samples. Every reference is checked when it is followed.
 *
 * What is valid is google/pprof's profile/proto.go and profile/profile.go (CheckValid): ids are not
 * 0 and not used twice, samples have one value a type, a location's functions and a sample's
 * locations exist; a mapping that does not exist counts as none. Beyond that a profile without
 * sample types is refused also when it has no samples: there is nothing that it could tell.
 * Legacy text formats are named in the error, not read. */
#include "proto/pprof.h"

#include "proto/arena.h"
#include "proto/error.h"
#include "proto/file_bytes.h"
#include "proto/foreign_format.h"
#include "proto/gzip.h"
#include "proto/id_map.h"
#include "proto/profile.h"
#include "proto/profile.pb-c.h"
#include "proto/wire.h"

#include <float.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A protobuf message is less than 2 GiB (protobuf.dev, "Proto Limits"). */
#define PPROF_MOST_BYTES ((size_t)2 << 30)

/* Real profiles pack to a half or a tenth. What grows from little to more than this is a bomb: it
 * is refused before its decoded form, ten times as large again, eats the machine. */
#define PPROF_TRUSTED_BYTES ((size_t)256 << 20)
#define PPROF_MOST_RATIO 100u

/* Fields of Profile as they should be, before we believe that a broken file was a profile. */
#define CONVINCING_FIELDS 3u

enum profile_field {
    FIELD_SAMPLE_TYPE = 1,
    FIELD_SAMPLE = 2,
    FIELD_MAPPING = 3,
    FIELD_LOCATION = 4,
    FIELD_FUNCTION = 5,
    FIELD_STRING = 6,
    FIELD_DROP_FRAMES = 7,
    FIELD_KEEP_FRAMES = 8,
    FIELD_TIME = 9,
    FIELD_DURATION = 10,
    FIELD_PERIOD_TYPE = 11,
    FIELD_PERIOD = 12,
    FIELD_COMMENT = 13,
    FIELD_DEFAULT_SAMPLE_TYPE = 14,
    FIELD_LAST = 14
};

struct reader {
    const uint8_t *bytes;
    size_t size;
    const char *name;
    struct error *error;
    bool failed; /* *error is set; the first failure stays */
    bool has_time;
    struct profile *profile;
    const char **strings; /* the file's string table, interned */
    size_t string_count;
    size_t string_capacity;
    struct arena *scratch; /* goes with the reader */
    struct id_map mappings;
    struct id_map functions;
    struct id_map locations;
    struct profile_location **stack; /* of the sample being read */
    size_t stack_capacity;
    struct profile_line *lines; /* of the location being read */
    size_t line_capacity;
};

/* Notes the first failure; what fails after it only follows from it. */
static void __attribute__((format(printf, 2, 3)))
reader_fail(struct reader *reader, const char *format, ...)
{
    if (reader->failed)
        return;
    reader->failed = true;
    char reason[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof(reason), format, arguments);
    va_end(arguments);
    error_set(reader->error, reader->name, "%s", reason);
}

static void *decoder_alloc(void *context, size_t size)
{
    (void)context;
    return heap_alloc(size);
}

static void decoder_free(void *context, void *block)
{
    (void)context;
    free(block);
}

static ProtobufCAllocator decoder_memory = {.alloc = decoder_alloc, .free = decoder_free};

/* The text of a string index; "" with the reader failed when there is no such string. */
static const char *text_at(struct reader *reader, int64_t index)
{
    if (index >= 0 && (uint64_t)index < reader->string_count)
        return reader->strings[index];
    reader_fail(reader, "corrupt: string %" PRId64 " of %zu is named", index, reader->string_count);
    return "";
}

static void take_strings(struct reader *reader, const Pprof__Profile *piece)
{
    for (size_t i = 0; i < piece->n_string_table; i++) {
        const ProtobufCBinaryData *string = &piece->string_table[i];
        if (reader->string_count == 0 && string->len > 0)
            reader_fail(reader, "corrupt: the first string is not empty");
        reader->strings = heap_grow(reader->strings, &reader->string_capacity,
                                    reader->string_count + 1, sizeof(*reader->strings));
        reader->strings[reader->string_count++] =
            profile_intern_length(reader->profile, (const char *)string->data, string->len);
    }
}

static void add_id(struct reader *reader, struct id_map *map, uint64_t id, void *item,
                   const char *kind)
{
    if (id == 0)
        reader_fail(reader, "corrupt: a %s has the id 0", kind);
    else if (!id_map_add(map, id, item))
        reader_fail(reader, "corrupt: two %ss have the id %" PRIu64, kind, id);
}

static void take_mapping(struct reader *reader, const Pprof__Mapping *mapping)
{
    struct profile_mapping added = {
        .memory_start = mapping->memory_start,
        .memory_limit = mapping->memory_limit,
        .file_offset = mapping->file_offset,
        .filename = text_at(reader, mapping->filename),
        .build_id = text_at(reader, mapping->build_id),
        .has_functions = mapping->has_functions,
        .has_filenames = mapping->has_filenames,
        .has_line_numbers = mapping->has_line_numbers,
        .has_inline_frames = mapping->has_inline_frames,
    };
    add_id(reader, &reader->mappings, mapping->id, profile_add_mapping(reader->profile, &added),
           "mapping");
}

static void take_function(struct reader *reader, const Pprof__Function *function)
{
    struct profile_function *added = profile_function(
        reader->profile, text_at(reader, function->name), text_at(reader, function->system_name),
        text_at(reader, function->filename), function->start_line);
    add_id(reader, &reader->functions, function->id, added, "function");
}

/* The time is there once in a profile; twice, not 0, when two were put one behind the other. */
static void take_time(struct reader *reader, const Pprof__Profile *piece)
{
    if (piece->time_nanos == 0)
        return;
    if (reader->has_time)
        reader_fail(reader, "several profiles one behind the other in one file");
    reader->has_time = true;
    reader->profile->time_nanos = piece->time_nanos;
}

/* What needs only strings: the piece has one of these fields, so all others are zero. */
static void take_described(struct reader *reader, const Pprof__Profile *piece)
{
    struct profile *profile = reader->profile;
    for (size_t i = 0; i < piece->n_sample_type; i++)
        profile_add_sample_type(profile, text_at(reader, piece->sample_type[i]->type),
                                text_at(reader, piece->sample_type[i]->unit));
    for (size_t i = 0; i < piece->n_mapping; i++)
        take_mapping(reader, piece->mapping[i]);
    for (size_t i = 0; i < piece->n_function; i++)
        take_function(reader, piece->function[i]);
    for (size_t i = 0; i < piece->n_comment && !reader->failed; i++)
        profile_add_comment(profile, text_at(reader, piece->comment[i]));
    if (piece->drop_frames)
        profile->drop_frames = text_at(reader, piece->drop_frames);
    if (piece->keep_frames)
        profile->keep_frames = text_at(reader, piece->keep_frames);
    if (piece->duration_nanos)
        profile->duration_nanos = piece->duration_nanos;
    if (piece->period_type)
        profile->period_type =
            (struct profile_value_type){.type = text_at(reader, piece->period_type->type),
                                        .unit = text_at(reader, piece->period_type->unit)};
    if (piece->period)
        profile->period = piece->period;
    if (piece->default_sample_type)
        profile->default_sample_type = text_at(reader, piece->default_sample_type);
}

static void take_location(struct reader *reader, const Pprof__Location *location)
{
    size_t count = location->n_line;
    reader->lines = heap_grow(reader->lines, &reader->line_capacity, count, sizeof(*reader->lines));
    for (size_t i = 0; i < count; i++) {
        const Pprof__Line *line = location->line[i];
        struct profile_function *function = id_map_find(&reader->functions, line->function_id);
        if (!function) {
            reader_fail(reader,
                        "corrupt: location %" PRIu64 " names function %" PRIu64
                        ", which does not exist",
                        location->id, line->function_id);
            return;
        }
        reader->lines[i] =
            (struct profile_line){.function = function, .line = line->line, .column = line->column};
    }
    struct profile_location *added = profile_add_location(
        reader->profile, id_map_find(&reader->mappings, location->mapping_id), location->address);
    added->is_folded = location->is_folded;
    profile_set_lines(reader->profile, added, reader->lines, (uint32_t)count);
    add_id(reader, &reader->locations, location->id, added, "location");
}

static void take_locations(struct reader *reader, const Pprof__Profile *piece)
{
    for (size_t i = 0; i < piece->n_location && !reader->failed; i++)
        take_location(reader, piece->location[i]);
}

static void take_label(struct reader *reader, struct profile_sample *sample,
                       const Pprof__Label *label)
{
    struct profile_label added = {.key = text_at(reader, label->key),
                                  .str = label->str ? text_at(reader, label->str) : NULL,
                                  .num = label->num,
                                  .num_unit = text_at(reader, label->num_unit)};
    profile_add_label(reader->profile, sample, &added);
}

/* An extra from a file: anything but a finite number from 0 up is as good as none. */
static double extra_double(double stored)
{
    return stored >= 0 && stored <= DBL_MAX ? stored : 0;
}

static int64_t extra_int64_t(int64_t stored)
{
    return stored >= 0 ? stored : 0;
}

static void take_sample(struct reader *reader, const Pprof__Sample *sample)
{
    struct profile *profile = reader->profile;
    size_t number = profile->sample_count + 1;
    if (sample->n_value != profile->sample_type_count) {
        reader_fail(reader, "corrupt: sample %zu has %zu values, there are %u sample types", number,
                    sample->n_value, profile->sample_type_count);
        return;
    }
    size_t depth = sample->n_location_id;
    reader->stack =
        heap_grow(reader->stack, &reader->stack_capacity, depth, sizeof(struct profile_location *));
    for (size_t i = 0; i < depth; i++) {
        reader->stack[i] = id_map_find(&reader->locations, sample->location_id[i]);
        if (!reader->stack[i]) {
            reader_fail(reader,
                        "corrupt: sample %zu names location %" PRIu64 ", which does not exist",
                        number, sample->location_id[i]);
            return;
        }
    }
    struct profile_sample *added =
        profile_add_sample(profile, reader->stack, (uint32_t)depth, sample->value);
#define TAKE_EXTRA(type, name) added->extra.name = extra_##type(sample->name);
    PROFILE_SAMPLE_EXTRAS(TAKE_EXTRA)
#undef TAKE_EXTRA
    for (size_t i = 0; i < sample->n_label && !reader->failed; i++)
        take_label(reader, added, sample->label[i]);
}

static void take_samples(struct reader *reader, const Pprof__Profile *piece)
{
    for (size_t i = 0; i < piece->n_sample && !reader->failed; i++)
        take_sample(reader, piece->sample[i]);
}

/* Who takes which fields, in the order in which they need each other. The time comes first: two
 * profiles in one file break other rules too, but this one says what the matter is. */
struct pass {
    uint32_t fields; /* bit n: field n */
    void (*take)(struct reader *reader, const Pprof__Profile *piece);
};

#define BIT(field) (UINT32_C(1) << (field))

static const struct pass passes[] = {
    {BIT(FIELD_TIME), take_time},
    {BIT(FIELD_STRING), take_strings},
    {BIT(FIELD_SAMPLE_TYPE) | BIT(FIELD_MAPPING) | BIT(FIELD_FUNCTION) | BIT(FIELD_DROP_FRAMES) |
         BIT(FIELD_KEEP_FRAMES) | BIT(FIELD_DURATION) | BIT(FIELD_PERIOD_TYPE) | BIT(FIELD_PERIOD) |
         BIT(FIELD_COMMENT) | BIT(FIELD_DEFAULT_SAMPLE_TYPE),
     take_described},
    {BIT(FIELD_LOCATION), take_locations},
    {BIT(FIELD_SAMPLE), take_samples},
};

/* Decodes the pass's fields one by one. Their borders were checked by check_fields. */
static bool read_pass(struct reader *reader, const struct pass *pass)
{
    struct wire_reader wire = {.bytes = reader->bytes, .size = reader->size, .name = reader->name};
    struct wire_field field;
    while (!reader->failed && wire_next(&wire, &field, reader->error) == WIRE_FIELD) {
        if (field.number > FIELD_LAST || !(pass->fields & BIT(field.number)))
            continue;
        Pprof__Profile *piece =
            pprof__profile__unpack(&decoder_memory, field.size, reader->bytes + field.offset);
        if (!piece) {
            reader_fail(reader, "corrupt: field %u at byte %zu cannot be decoded", field.number,
                        field.offset);
            break;
        }
        pass->take(reader, piece);
        pprof__profile__free_unpacked(piece, &decoder_memory);
    }
    return !reader->failed;
}

static void fail_as_foreign(struct reader *reader)
{
    const char *format = foreign_format_name(reader->bytes, reader->size);
    if (format)
        reader_fail(reader, "not a pprof profile but %s, which cannot be read", format);
    else
        reader_fail(reader, "not a pprof profile");
}

/* Whether a field of Profile has the type that it must have. */
static bool is_plausible(const struct wire_field *field)
{
    bool is_message = field->number <= FIELD_STRING || field->number == FIELD_PERIOD_TYPE;
    if (field->number == FIELD_COMMENT) /* packed or not */
        return field->type == WIRE_BYTES || field->type == WIRE_VARINT;
    return field->number <= FIELD_LAST && field->type == (is_message ? WIRE_BYTES : WIRE_VARINT);
}

/* Whether the bytes are fields from beginning to end, among them strings and sample types. A file
 * that fails here is called corrupt only if it looks like a profile up to that point. */
static bool check_fields(struct reader *reader)
{
    struct wire_reader wire = {.bytes = reader->bytes, .size = reader->size};
    struct wire_field field;
    struct error broken = {0};
    size_t fields = 0;
    size_t plausible = 0;
    size_t strings = 0;
    size_t sample_types = 0;
    enum wire_outcome outcome;
    while ((outcome = wire_next(&wire, &field, &broken)) == WIRE_FIELD) {
        fields++;
        plausible += is_plausible(&field);
        strings += field.number == FIELD_STRING;
        sample_types += field.number == FIELD_SAMPLE_TYPE;
    }
    bool is_whole = outcome == WIRE_END && plausible == fields && strings > 0;
    bool is_text = foreign_format_is_text(reader->bytes, reader->size);
    if (is_text || (plausible < CONVINCING_FIELDS && !is_whole))
        fail_as_foreign(reader);
    else if (outcome == WIRE_BROKEN)
        reader_fail(reader, "%s", broken.text);
    else if (strings == 0)
        reader_fail(reader, "corrupt: no string table");
    else if (sample_types == 0)
        reader_fail(reader, "corrupt: no sample types");
    return !reader->failed;
}

static void reader_init(struct reader *reader)
{
    reader->profile = profile_new();
    reader->scratch = arena_new();
    id_map_init(&reader->mappings, reader->scratch);
    id_map_init(&reader->functions, reader->scratch);
    id_map_init(&reader->locations, reader->scratch);
}

static void reader_done(struct reader *reader)
{
    id_map_done(&reader->mappings);
    id_map_done(&reader->functions);
    id_map_done(&reader->locations);
    free(reader->strings);
    free(reader->stack);
    free(reader->lines);
    arena_free(reader->scratch);
}

static struct profile *decode_raw(const uint8_t *bytes, size_t size, const char *name,
                                  struct error *error)
{
    struct reader reader = {.bytes = bytes, .size = size, .name = name, .error = error};
    if (!check_fields(&reader))
        return NULL;
    reader_init(&reader);
    bool ok = true;
    for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]) && ok; i++)
        ok = read_pass(&reader, &passes[i]);
    struct profile *profile = reader.profile;
    reader_done(&reader);
    if (ok)
        return profile;
    profile_free(profile);
    return NULL;
}

/* How many bytes size bytes of gzip may unpack to. */
static size_t unpacked_limit(size_t size)
{
    if (size > PPROF_MOST_BYTES / PPROF_MOST_RATIO)
        return PPROF_MOST_BYTES;
    size_t likely = size * PPROF_MOST_RATIO;
    return likely > PPROF_TRUSTED_BYTES ? likely : PPROF_TRUSTED_BYTES;
}

struct profile *pprof_decode(const uint8_t *bytes, size_t size, const char *name,
                             struct error *error)
{
    if (size == 0) {
        error_set(error, name, "empty file");
        return NULL;
    }
    if (!gzip_is(bytes, size)) {
        if (size <= PPROF_MOST_BYTES)
            return decode_raw(bytes, size, name, error);
        error_set(error, name, "too large: more than %zu MiB", PPROF_MOST_BYTES >> 20);
        return NULL;
    }
    uint8_t *raw;
    size_t raw_size;
    if (!gzip_inflate(bytes, size, unpacked_limit(size), name, &raw, &raw_size, error))
        return NULL;
    struct profile *profile = NULL;
    if (raw_size > 0)
        profile = decode_raw(raw, raw_size, name, error);
    else
        error_set(error, name, "empty gzip file");
    free(raw);
    return profile;
}

struct profile *pprof_read_file(const char *path, struct error *error)
{
    uint8_t *bytes;
    size_t size;
    if (!file_bytes_read(path, PPROF_MOST_BYTES, &bytes, &size, error))
        return NULL;
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    struct profile *profile = pprof_decode(bytes, size, name, error);
    free(bytes);
    return profile;
}
