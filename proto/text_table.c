/* text_table.c: interned text, a hash set over texts that lie in an arena. */
#include "proto/text_table.h"

#include "proto/arena.h"
#include "proto/utf8.h"

#include <stdlib.h>
#include <string.h>

struct wanted_text {
    const char *bytes;
    size_t length;
};

void text_table_init(struct text_table *table, struct arena *arena)
{
    memset(table, 0, sizeof(*table));
    table->arena = arena;
    hash_set_init(&table->set);
    text_table_add(table, "", 0);
}

void text_table_done(struct text_table *table)
{
    hash_set_done(&table->set);
    free(table->texts);
    memset(table, 0, sizeof(*table));
}

static bool same_text(const void *item, const void *wanted)
{
    const struct text *text = item;
    const struct wanted_text *other = wanted;
    return text->length == other->length && memcmp(text->bytes, other->bytes, text->length) == 0;
}

static const struct text *add_valid(struct text_table *table, const char *bytes, size_t length)
{
    struct wanted_text wanted = {.bytes = bytes, .length = length};
    uint64_t hash = hash_set_hash(&table->set, bytes, length);
    struct text *text = hash_set_find(&table->set, hash, same_text, &wanted);
    if (text)
        return text;
    /* length is that of bytes in memory, so the sum is far from overflow */
    text = arena_alloc(table->arena, sizeof(*text) + length + 1);
    text->index = table->count;
    text->length = length;
    memcpy(text->bytes, bytes, length);
    table->texts =
        heap_grow(table->texts, &table->capacity, table->count + 1, sizeof(*table->texts));
    table->texts[table->count++] = text;
    hash_set_add(&table->set, hash, text);
    return text;
}

const struct text *text_table_add(struct text_table *table, const char *text, size_t length)
{
    if (length == 0)
        return add_valid(table, "", 0);
    if (utf8_valid(text, length))
        return add_valid(table, text, length);
    char *valid = heap_alloc(length * UTF8_GROWTH); /* in memory once already: no overflow */
    const struct text *added = add_valid(table, valid, utf8_sanitize(valid, text, length));
    free(valid);
    return added;
}
