/* foreign_format.h: tells what a file is that is no pprof profile. */
#ifndef HEAPPROF_PROTO_FOREIGN_FORMAT_H
#define HEAPPROF_PROTO_FOREIGN_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words for what bytes[0..size) begin as, with an article: "a jemalloc heap dump (text)"; NULL
 * when nothing is recognised. Only for messages: it looks at the beginning alone. Pure. */
const char *foreign_format_name(const uint8_t *bytes, size_t size);

/* Whether the beginning is plain text: no control characters but white space and ESC. Every
 * profile.proto has others (lengths and small numbers). Pure. */
bool foreign_format_is_text(const uint8_t *bytes, size_t size);

#endif
