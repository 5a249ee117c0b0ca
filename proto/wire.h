/* wire.h: the fields of a protobuf message, one after the other, without decoding them.
 *
 * Lets a reader take a large message apart field by field, so that never more than one field is
 * decoded at a time. Source: protobuf.dev, "Encoding". */
#ifndef HEAPPROF_PROTO_WIRE_H
#define HEAPPROF_PROTO_WIRE_H

#include <stddef.h>
#include <stdint.h>

struct error;

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct wire_reader {
    const uint8_t *bytes; /* not owned */
    size_t size;
    size_t offset;    /* of the next field */
    const char *name; /* stands for the bytes in errors; NULL for none */
};

struct wire_field {
    uint32_t number;     /* 1 to 2^29 - 1 */
    enum wire_type type; /* one of the four: groups are refused */
    size_t offset;       /* where the field's tag begins */
    size_t size;         /* of tag and content together; a message of this one field */
};

enum wire_outcome {
    WIRE_FIELD, /* *field is set, the reader stands behind it */
    WIRE_END,   /* there are no more fields */
    WIRE_BROKEN /* *error says what is wrong where; the reader stays */
};

/* Takes the next field; every byte of it lies inside the reader's bytes. Any bytes are accepted
 * as input. */
enum wire_outcome wire_next(struct wire_reader *reader, struct wire_field *field,
                            struct error *error);

#endif
