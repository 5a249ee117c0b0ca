/* gzip.c: zlib over buffers that grow.
 *
 * zlib counts a buffer in 32 bits, so long input and output are handed over in parts. */
#include "proto/gzip.h"

#include "proto/arena.h"
#include "proto/error.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define GZIP_ONLY (16 + MAX_WBITS) /* zlib's way to say: a gzip header, not a zlib one */
#define LEVEL 3 /* 6 takes twice the time and saves a tenth of the bytes of real profiles */
#define MEMORY_LEVEL 8
#define FIRST_OUTPUT_BYTES ((size_t)64 << 10)
#define PART_BYTES ((size_t)1 << 30)

static uInt part_of(size_t size)
{
    return (uInt)(size < PART_BYTES ? size : PART_BYTES);
}

bool gzip_is(const uint8_t *bytes, size_t size)
{
    return size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

struct inflater {
    z_stream stream;
    const uint8_t *input; /* what zlib has not been given yet */
    size_t input_left;
    uint8_t *out;
    size_t out_size;
    size_t out_capacity;
};

/* Lets zlib make one step. Output may pass the limit by one byte: that tells "exactly at the
 * limit" from "more". */
static int inflate_step(struct inflater *inflater, size_t limit)
{
    z_stream *stream = &inflater->stream;
    if (stream->avail_in == 0 && inflater->input_left > 0) {
        stream->next_in = inflater->input;
        stream->avail_in = part_of(inflater->input_left);
        inflater->input += stream->avail_in;
        inflater->input_left -= stream->avail_in;
    }
    size_t room = inflater->out_capacity;
    if (inflater->out_size == room) {
        room = room == 0 ? FIRST_OUTPUT_BYTES : room > limit / 2 ? limit + 1 : room * 2;
        inflater->out = heap_realloc(inflater->out, room);
        inflater->out_capacity = room;
    }
    uInt offered = part_of(room - inflater->out_size);
    stream->next_out = inflater->out + inflater->out_size;
    stream->avail_out = offered;
    int status = inflate(stream, Z_NO_FLUSH);
    inflater->out_size += offered - stream->avail_out;
    return status;
}

static bool inflate_members(struct inflater *inflater, size_t limit, const char *name,
                            struct error *error)
{
    z_stream *stream = &inflater->stream;
    for (;;) {
        int status = inflate_step(inflater, limit);
        bool input_ended = stream->avail_in == 0 && inflater->input_left == 0;
        if (inflater->out_size > limit) {
            error_set(error, name, "too large: more than %zu MiB when unpacked", limit >> 20);
            return false;
        }
        if (status == Z_STREAM_END) {
            if (input_ended)
                return true;
            inflateReset(stream); /* fails only for a stream that was never set up */
        } else if (status == Z_MEM_ERROR) {
            error_set(error, name, "no memory to unpack it");
            return false;
        } else if (status != Z_OK && status != Z_BUF_ERROR) {
            error_set(error, name, "corrupt gzip: %s", stream->msg ? stream->msg : "bad data");
            return false;
        } else if (input_ended && stream->avail_out > 0) {
            error_set(error, name, "truncated gzip");
            return false;
        }
    }
}

bool gzip_inflate(const uint8_t *bytes, size_t size, size_t limit, const char *name, uint8_t **out,
                  size_t *out_size, struct error *error)
{
    struct inflater inflater = {.input = bytes, .input_left = size};
    if (inflateInit2(&inflater.stream, GZIP_ONLY) != Z_OK) {
        error_set(error, name, "no memory to unpack it");
        return false;
    }
    bool ok = inflate_members(&inflater, limit, name, error);
    inflateEnd(&inflater.stream);
    if (!ok) {
        free(inflater.out);
        return false;
    }
    *out = inflater.out;
    *out_size = inflater.out_size;
    return true;
}

bool gzip_writer_init(struct gzip_writer *writer, struct error *error)
{
    memset(writer, 0, sizeof(*writer));
    /* zlib's own gzip header has time 0 and no name */
    int status = deflateInit2(&writer->stream, LEVEL, Z_DEFLATED, GZIP_ONLY, MEMORY_LEVEL,
                              Z_DEFAULT_STRATEGY);
    if (status != Z_OK)
        error_set(error, NULL, "zlib cannot pack: %s", zError(status));
    return status == Z_OK;
}

/* Runs deflate until it has taken all input and given all output that it owes. */
static bool deflate_all(struct gzip_writer *writer, int flush, struct error *error)
{
    z_stream *stream = &writer->stream;
    int status;
    do {
        writer->bytes =
            heap_grow(writer->bytes, &writer->capacity, writer->size + FIRST_OUTPUT_BYTES, 1);
        uInt offered = part_of(writer->capacity - writer->size);
        stream->next_out = writer->bytes + writer->size;
        stream->avail_out = offered;
        status = deflate(stream, flush);
        writer->size += offered - stream->avail_out;
        if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
            error_set(error, NULL, "zlib cannot pack: %s", zError(status));
            return false;
        }
    } while (stream->avail_out == 0 && status != Z_STREAM_END);
    return true;
}

bool gzip_writer_add(struct gzip_writer *writer, const uint8_t *bytes, size_t size,
                     struct error *error)
{
    while (size > 0) {
        uInt part = part_of(size);
        writer->stream.next_in = bytes;
        writer->stream.avail_in = part;
        if (!deflate_all(writer, Z_NO_FLUSH, error))
            return false;
        bytes += part;
        size -= part;
    }
    return true;
}

bool gzip_writer_finish(struct gzip_writer *writer, uint8_t **bytes, size_t *size,
                        struct error *error)
{
    writer->stream.next_in = NULL;
    writer->stream.avail_in = 0;
    if (!deflate_all(writer, Z_FINISH, error))
        return false;
    *bytes = writer->bytes;
    *size = writer->size;
    writer->bytes = NULL;
    return true;
}

void gzip_writer_done(struct gzip_writer *writer)
{
    deflateEnd(&writer->stream);
    free(writer->bytes);
    writer->bytes = NULL;
}
