/* text_table.h: each text once, numbered in the order of first use.
 *
 * Serves the profile model (equal texts are the same pointer) and the string table of a file
 * (texts by number). Not thread-safe. */
#ifndef HEAPPROF_PROTO_TEXT_TABLE_H
#define HEAPPROF_PROTO_TEXT_TABLE_H

#include "proto/hash_set.h"

#include <stddef.h>

struct arena;

/* A text in the table: valid UTF-8, no NUL inside, a NUL behind. */
struct text {
    size_t index;
    size_t length; /* in bytes */
    char bytes[];
};

struct text_table {
    struct arena *arena; /* not owned; holds the texts */
    struct hash_set set;
    const struct text **texts; /* by index; texts[0] is "" */
    size_t count;
    size_t capacity;
};

/* The texts live in arena, which must outlive the table's use. "" becomes number 0. */
void text_table_init(struct text_table *table, struct arena *arena);
/* Frees the table's own memory; the texts stay as long as the arena. A zeroed table is accepted. */
void text_table_done(struct text_table *table);

/* The entry for text[0..length), added when it is new; ill-formed UTF-8 and NULs become U+FFFD
 * first. text may be NULL when length is 0. Never NULL. */
const struct text *text_table_add(struct text_table *table, const char *text, size_t length);

#endif
