/* gzip.h: gzip streams in memory (RFC 1952), both ways. */
#ifndef HEAPPROF_PROTO_GZIP_H
#define HEAPPROF_PROTO_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifndef ZLIB_CONST
#define ZLIB_CONST /* zlib's input pointers are to const */
#endif
#include <zlib.h>

struct error;

/* Whether the bytes begin as gzip. Pure. */
bool gzip_is(const uint8_t *bytes, size_t size);

/* Unpacks all members of bytes[0..size) one behind the other into *out (malloc'ed, the caller
 * frees) and *out_size; checksums and lengths are verified. name stands for the bytes in *error.
 * False, with nothing to free, for anything but complete gzip, also where more than limit bytes
 * would come out: never more memory than about twice the limit is taken. */
bool gzip_inflate(const uint8_t *bytes, size_t size, size_t limit, const char *name, uint8_t **out,
                  size_t *out_size, struct error *error);

/* Packs what is written to it piece by piece. Equal input gives equal bytes: the header holds no
 * time and no name. */
struct gzip_writer {
    z_stream stream;
    uint8_t *bytes; /* malloc'ed; what is packed so far */
    size_t size;
    size_t capacity;
};

/* False when zlib cannot start (memory); then there is nothing to undo. */
bool gzip_writer_init(struct gzip_writer *writer, struct error *error);
bool gzip_writer_add(struct gzip_writer *writer, const uint8_t *bytes, size_t size,
                     struct error *error);
/* Ends the stream and hands it over: *bytes is malloc'ed, the caller frees. */
bool gzip_writer_finish(struct gzip_writer *writer, uint8_t **bytes, size_t *size,
                        struct error *error);
/* Frees what is left, also after finish. */
void gzip_writer_done(struct gzip_writer *writer);

#endif
