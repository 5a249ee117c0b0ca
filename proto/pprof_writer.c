/* pprof_writer.c: a profile becomes a pprof file.
 *
 * Protobuf messages that stand one behind the other merge, so the file is made of small Profile
 * messages, most with one element, each packed and handed to gzip at once: beside the compressed
 * file only one sample is in memory. Order and numbering follow the model alone, so equal profiles
 * give equal bytes. Rules: google/pprof proto/README.md and what readers insist on (ids 1 to N in
 * sequence, "" as first string, one time_nanos, no sample that is all zero).
 *
 * A label whose text is "" cannot be told from the number 0 in this format and reads back as it. */
#include "proto/pprof.h"

#include "proto/arena.h"
#include "proto/error.h"
#include "proto/gzip.h"
#include "proto/profile.h"
#include "proto/profile.pb-c.h"
#include "proto/text_table.h"

#include <stdlib.h>
#include <string.h>

struct writer {
    const struct profile *profile;
    struct error *error;
    struct arena *arena; /* the string table's and the ids' */
    struct text_table strings;
    struct gzip_writer gzip;
    uint64_t *location_ids; /* by location->index; 0: not used by a sample that is written */
    uint64_t *function_ids; /* by function->index; 0: not used by a location that is written */
    uint8_t *packed;        /* the piece on its way to gzip */
    size_t packed_capacity;
    uint64_t *stack; /* of the sample being written */
    size_t stack_capacity;
};

static int64_t string_index(struct writer *writer, const char *text)
{
    return (int64_t)text_table_add(&writer->strings, text, text ? strlen(text) : 0)->index;
}

static bool put(struct writer *writer, const Pprof__Profile *piece)
{
    size_t size = pprof__profile__get_packed_size(piece);
    writer->packed = heap_grow(writer->packed, &writer->packed_capacity, size, 1);
    pprof__profile__pack(piece, writer->packed);
    return gzip_writer_add(&writer->gzip, writer->packed, size, writer->error);
}

static bool is_written(const struct profile *profile, const struct profile_sample *sample)
{
    for (uint32_t i = 0; i < profile->sample_type_count; i++) {
        if (sample->values[i] != 0)
            return true;
    }
    return false;
}

static void number_used(uint64_t *ids, uint32_t count)
{
    uint64_t id = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (ids[i])
            ids[i] = ++id;
    }
}

/* Ids in the model's order for what the written samples refer to. */
static void number_references(struct writer *writer)
{
    const struct profile *profile = writer->profile;
    writer->location_ids =
        arena_array(writer->arena, profile->location_count, sizeof(*writer->location_ids));
    writer->function_ids =
        arena_array(writer->arena, profile->function_count, sizeof(*writer->function_ids));
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct profile_sample *sample = profile->samples[i];
        if (!is_written(profile, sample))
            continue;
        for (uint32_t frame = 0; frame < sample->location_count; frame++)
            writer->location_ids[sample->locations[frame]->index] = 1;
    }
    number_used(writer->location_ids, profile->location_count);
    for (uint32_t i = 0; i < profile->location_count; i++) {
        const struct profile_location *location = profile->locations[i];
        for (uint32_t line = 0; writer->location_ids[i] && line < location->line_count; line++)
            writer->function_ids[location->lines[line].function->index] = 1;
    }
    number_used(writer->function_ids, profile->function_count);
}

static Pprof__ValueType value_type(struct writer *writer, const struct profile_value_type *type)
{
    Pprof__ValueType message = PPROF__VALUE_TYPE__INIT;
    message.type = string_index(writer, type->type);
    message.unit = string_index(writer, type->unit);
    return message;
}

static bool put_sample_types(struct writer *writer)
{
    const struct profile *profile = writer->profile;
    for (uint32_t i = 0; i < profile->sample_type_count; i++) {
        Pprof__ValueType message = value_type(writer, &profile->sample_types[i]);
        Pprof__ValueType *one = &message;
        Pprof__Profile piece = PPROF__PROFILE__INIT;
        piece.n_sample_type = 1;
        piece.sample_type = &one;
        if (!put(writer, &piece))
            return false;
    }
    return true;
}

/* The sample's labels in *messages, pointed to by the result; both are malloc'ed. */
static Pprof__Label **label_messages(struct writer *writer, const struct profile_sample *sample,
                                     Pprof__Label **messages)
{
    size_t count = sample->label_count;
    *messages = heap_alloc(count * sizeof(**messages));
    Pprof__Label **pointers = heap_alloc(count * sizeof(Pprof__Label *));
    for (size_t i = 0; i < count; i++) {
        const struct profile_label *label = &sample->labels[i];
        Pprof__Label *message = *messages + i;
        pprof__label__init(message);
        message->key = string_index(writer, label->key);
        if (label->str) {
            message->str = string_index(writer, label->str);
        } else {
            message->num = label->num;
            message->num_unit = string_index(writer, label->num_unit);
        }
        pointers[i] = message;
    }
    return pointers;
}

static bool put_sample(struct writer *writer, const struct profile_sample *sample)
{
    Pprof__Sample message = PPROF__SAMPLE__INIT;
    Pprof__Sample *one = &message;
    Pprof__Profile piece = PPROF__PROFILE__INIT;
    Pprof__Label *labels = NULL;
    size_t depth = sample->location_count;
    writer->stack =
        heap_grow(writer->stack, &writer->stack_capacity, depth, sizeof(*writer->stack));
    for (size_t i = 0; i < depth; i++)
        writer->stack[i] = writer->location_ids[sample->locations[i]->index];
    message.n_location_id = depth;
    message.location_id = writer->stack;
    message.n_value = writer->profile->sample_type_count;
    message.value = sample->values;
    if (sample->label_count > 0) {
        message.n_label = sample->label_count;
        message.label = label_messages(writer, sample, &labels);
    }
    /* zero means absent in proto3: a profile without these has none of our fields */
#define PUT_EXTRA(type, name) message.name = sample->extra.name;
    PROFILE_SAMPLE_EXTRAS(PUT_EXTRA)
#undef PUT_EXTRA
    piece.n_sample = 1;
    piece.sample = &one;
    bool ok = put(writer, &piece);
    free(message.label);
    free(labels);
    return ok;
}

static bool put_samples(struct writer *writer)
{
    const struct profile *profile = writer->profile;
    for (size_t i = 0; i < profile->sample_count; i++) {
        if (is_written(profile, profile->samples[i]) && !put_sample(writer, profile->samples[i]))
            return false;
    }
    return true;
}

/* All of them, used or not: the first one says which program this is. */
static bool put_mappings(struct writer *writer)
{
    for (uint32_t i = 0; i < writer->profile->mapping_count; i++) {
        const struct profile_mapping *mapping = writer->profile->mappings[i];
        Pprof__Mapping message = PPROF__MAPPING__INIT;
        Pprof__Mapping *one = &message;
        Pprof__Profile piece = PPROF__PROFILE__INIT;
        message.id = (uint64_t)i + 1;
        message.memory_start = mapping->memory_start;
        message.memory_limit = mapping->memory_limit;
        message.file_offset = mapping->file_offset;
        message.filename = string_index(writer, mapping->filename);
        message.build_id = string_index(writer, mapping->build_id);
        message.has_functions = mapping->has_functions;
        message.has_filenames = mapping->has_filenames;
        message.has_line_numbers = mapping->has_line_numbers;
        message.has_inline_frames = mapping->has_inline_frames;
        piece.n_mapping = 1;
        piece.mapping = &one;
        if (!put(writer, &piece))
            return false;
    }
    return true;
}

static bool put_location(struct writer *writer, const struct profile_location *location)
{
    size_t count = location->line_count;
    Pprof__Line *lines = heap_alloc(count * sizeof(*lines));
    Pprof__Line **pointers = heap_alloc(count * sizeof(Pprof__Line *));
    for (size_t i = 0; i < count; i++) {
        pprof__line__init(&lines[i]);
        lines[i].function_id = writer->function_ids[location->lines[i].function->index];
        lines[i].line = location->lines[i].line;
        lines[i].column = location->lines[i].column;
        pointers[i] = &lines[i];
    }
    Pprof__Location message = PPROF__LOCATION__INIT;
    Pprof__Location *one = &message;
    Pprof__Profile piece = PPROF__PROFILE__INIT;
    message.id = writer->location_ids[location->index];
    message.mapping_id = location->mapping ? (uint64_t)location->mapping->index + 1 : 0;
    message.address = location->address;
    message.n_line = count;
    message.line = pointers;
    message.is_folded = location->is_folded;
    piece.n_location = 1;
    piece.location = &one;
    bool ok = put(writer, &piece);
    free(pointers);
    free(lines);
    return ok;
}

static bool put_locations(struct writer *writer)
{
    for (uint32_t i = 0; i < writer->profile->location_count; i++) {
        if (writer->location_ids[i] && !put_location(writer, writer->profile->locations[i]))
            return false;
    }
    return true;
}

static bool put_functions(struct writer *writer)
{
    for (uint32_t i = 0; i < writer->profile->function_count; i++) {
        if (!writer->function_ids[i])
            continue;
        const struct profile_function *function = writer->profile->functions[i];
        Pprof__Function message = PPROF__FUNCTION__INIT;
        Pprof__Function *one = &message;
        Pprof__Profile piece = PPROF__PROFILE__INIT;
        message.id = writer->function_ids[i];
        message.name = string_index(writer, function->name);
        message.system_name = string_index(writer, function->system_name);
        message.filename = string_index(writer, function->filename);
        message.start_line = function->start_line;
        piece.n_function = 1;
        piece.function = &one;
        if (!put(writer, &piece))
            return false;
    }
    return true;
}

/* The single values, with the comments. */
static bool put_head(struct writer *writer)
{
    const struct profile *profile = writer->profile;
    Pprof__ValueType period_type = value_type(writer, &profile->period_type);
    int64_t *comments = heap_alloc(profile->comment_count * sizeof(*comments));
    for (uint32_t i = 0; i < profile->comment_count; i++)
        comments[i] = string_index(writer, profile->comments[i]);
    Pprof__Profile piece = PPROF__PROFILE__INIT;
    piece.drop_frames = string_index(writer, profile->drop_frames);
    piece.keep_frames = string_index(writer, profile->keep_frames);
    piece.time_nanos = profile->time_nanos;
    piece.duration_nanos = profile->duration_nanos;
    if (period_type.type || period_type.unit)
        piece.period_type = &period_type;
    piece.period = profile->period;
    piece.n_comment = profile->comment_count;
    piece.comment = comments;
    piece.default_sample_type = string_index(writer, profile->default_sample_type);
    bool ok = put(writer, &piece);
    free(comments);
    return ok;
}

/* Last, when every text has its number. */
static bool put_strings(struct writer *writer)
{
    for (size_t i = 0; i < writer->strings.count; i++) {
        const struct text *text = writer->strings.texts[i];
        /* protobuf-c wants a pointer to non-const, but only reads */
        ProtobufCBinaryData string = {.len = text->length,
                                      .data = (uint8_t *)(uintptr_t)text->bytes};
        Pprof__Profile piece = PPROF__PROFILE__INIT;
        piece.n_string_table = 1;
        piece.string_table = &string;
        if (!put(writer, &piece))
            return false;
    }
    return true;
}

bool pprof_encode(const struct profile *profile, uint8_t **bytes, size_t *size, struct error *error)
{
    struct writer writer = {.profile = profile, .error = error};
    if (!gzip_writer_init(&writer.gzip, error))
        return false;
    writer.arena = arena_new();
    text_table_init(&writer.strings, writer.arena);
    number_references(&writer);
    bool ok = put_sample_types(&writer) && put_samples(&writer) && put_mappings(&writer) &&
              put_locations(&writer) && put_functions(&writer) && put_head(&writer) &&
              put_strings(&writer) && gzip_writer_finish(&writer.gzip, bytes, size, error);
    gzip_writer_done(&writer.gzip);
    text_table_done(&writer.strings);
    arena_free(writer.arena);
    free(writer.packed);
    free(writer.stack);
    return ok;
}
