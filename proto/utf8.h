/* utf8.h: which bytes are well-formed UTF-8, and how others become so. */
#ifndef HEAPPROF_PROTO_UTF8_H
#define HEAPPROF_PROTO_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that one ill-formed byte may become. */
#define UTF8_GROWTH 3

/* Looks at what begins at text[0]; length is at least 1. A well-formed character: its length, 1 to
 * 4, and *valid is true. Else *valid is false and the result is how many bytes belong together as
 * one error: the longest start of a character that could have been one, at least 1. NUL counts as
 * ill-formed: no text of ours holds one. Pure. Source: The Unicode Standard, table 3-7 and section
 * 3.9, "U+FFFD substitution of maximal subparts". */
size_t utf8_step(const char *text, size_t length, bool *valid);

/* Whether all of text[0..length) is well-formed and without NUL. Pure. */
bool utf8_valid(const char *text, size_t length);

/* Copies text[0..length) to out, each error (see utf8_step) as one U+FFFD. out has room for
 * UTF8_GROWTH * length bytes; no NUL is added. The bytes written are returned. */
size_t utf8_sanitize(char *out, const char *text, size_t length);

#endif
