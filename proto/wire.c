/* wire.c: splits a protobuf message into fields, by tags and lengths alone. */
#include "proto/wire.h"

#include "proto/error.h"

#include <stdbool.h>

#define VARINT_MOST_BYTES 10u
#define LAST_FIELD_NUMBER 0x1fffffffu

enum varint_outcome { VARINT_OK, VARINT_CUT, VARINT_TOO_LONG };

/* Reads a varint at *offset and moves *offset behind it. Bits above 64 are dropped, as protobuf
 * decoders do. */
static enum varint_outcome read_varint(const struct wire_reader *reader, size_t *offset,
                                       uint64_t *value)
{
    *value = 0;
    for (unsigned i = 0; i < VARINT_MOST_BYTES; i++) {
        if (*offset >= reader->size)
            return VARINT_CUT;
        uint8_t byte = reader->bytes[(*offset)++];
        *value |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (byte < 0x80)
            return VARINT_OK;
    }
    return VARINT_TOO_LONG;
}

static enum wire_outcome broken_varint(const struct wire_reader *reader, size_t offset,
                                       enum varint_outcome outcome, struct error *error)
{
    if (outcome == VARINT_CUT)
        error_set(error, reader->name, "truncated: it ends inside the field at byte %zu", offset);
    else
        error_set(error, reader->name, "corrupt: a number of more than %u bytes at byte %zu",
                  VARINT_MOST_BYTES, offset);
    return WIRE_BROKEN;
}

/* How many bytes follow at *offset; for WIRE_BYTES *offset moves behind the length. */
static enum varint_outcome content_size(const struct wire_reader *reader, unsigned type,
                                        size_t *offset, uint64_t *size)
{
    uint64_t ignored;
    switch (type) {
    case WIRE_VARINT:
        *size = 0;
        return read_varint(reader, offset, &ignored);
    case WIRE_FIXED64:
        *size = 8;
        return VARINT_OK;
    case WIRE_FIXED32:
        *size = 4;
        return VARINT_OK;
    default:
        return read_varint(reader, offset, size);
    }
}

static bool known_type(unsigned type)
{
    return type == WIRE_VARINT || type == WIRE_FIXED64 || type == WIRE_BYTES ||
           type == WIRE_FIXED32;
}

enum wire_outcome wire_next(struct wire_reader *reader, struct wire_field *field,
                            struct error *error)
{
    size_t start = reader->offset;
    size_t offset = start;
    if (start >= reader->size)
        return WIRE_END;
    uint64_t tag;
    enum varint_outcome outcome = read_varint(reader, &offset, &tag);
    if (outcome != VARINT_OK)
        return broken_varint(reader, start, outcome, error);
    unsigned type = (unsigned)(tag & 7);
    uint64_t number = tag >> 3;
    if (number < 1 || number > LAST_FIELD_NUMBER || !known_type(type)) {
        error_set(error, reader->name, "corrupt: no protobuf field at byte %zu", start);
        return WIRE_BROKEN;
    }
    uint64_t content;
    outcome = content_size(reader, type, &offset, &content);
    if (outcome != VARINT_OK)
        return broken_varint(reader, start, outcome, error);
    if (content > reader->size - offset) {
        error_set(error, reader->name, "truncated: %llu bytes promised at byte %zu, %zu are there",
                  (unsigned long long)content, start, reader->size - offset);
        return WIRE_BROKEN;
    }
    offset += (size_t)content;
    *field = (struct wire_field){.number = (uint32_t)number,
                                 .type = (enum wire_type)type,
                                 .offset = start,
                                 .size = offset - start};
    reader->offset = offset;
    return WIRE_FIELD;
}
