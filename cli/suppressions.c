/* suppressions.c: leaks that somebody knows of, in LeakSanitizer's format. */
#include "cli/suppressions.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/arena.h"
#include "proto/error.h"
#include "proto/file_bytes.h"

#define FILE_MOST_BYTES ((size_t)16 << 20)
#define PREFIX "leak:"
#define SUBJECT_SIZE 1024 /* more than an error has room for */

/* --- matching -------------------------------------------------------------------------------- */

bool suppression_matches(const char *pattern, const char *text)
{
    if (*text == '\0')
        return false;
    bool must_begin = *pattern == '^'; /* the next piece is at the beginning of what is left */
    bool may_skip = false;             /* a '*' was just passed: the end may be anywhere */
    if (must_begin)
        pattern++;
    while (*pattern != '\0' && *pattern != '$') {
        size_t length = strcspn(pattern, "*$");
        if (length == 0) {
            may_skip = true;
            must_begin = false;
            pattern++;
            continue;
        }
        const char *found = memmem(text, strlen(text), pattern, length);
        if (found == NULL || (must_begin && found != text))
            return false;
        text = found + length;
        pattern += length;
        must_begin = may_skip = false;
    }
    return *pattern == '\0' || may_skip || *text == '\0';
}

size_t suppressions_find(const struct suppressions *suppressions, const char *text)
{
    size_t i = 0;
    while (i < suppressions->count && !suppression_matches(suppressions->items[i].pattern, text))
        i++;
    return i;
}

/* --- reading --------------------------------------------------------------------------------- */

/* line[0..length) without the spaces around it; *length becomes what is left. */
static const char *trim(const char *line, size_t *length)
{
    while (*length > 0 && (*line == ' ' || *line == '\t')) {
        line++;
        --*length;
    }
    while (*length > 0 && memchr(" \t\r", line[*length - 1], 3) != NULL)
        --*length;
    return line;
}

/* The reason to refuse a line that is not blank; NULL when it is good. */
static const char *reason_to_refuse(const char *line, size_t length)
{
    if (memchr(line, '\0', length) != NULL)
        return "a NUL byte in the line";
    if (length < strlen(PREFIX) || memcmp(line, PREFIX, strlen(PREFIX)) != 0)
        return "not of the form leak:PATTERN";
    if (length == strlen(PREFIX))
        return "no pattern behind leak:";
    return NULL;
}

static bool refuse(const char *path, size_t line, const char *reason, struct error *error)
{
    char place[SUBJECT_SIZE];
    snprintf(place, sizeof(place), "%s:%zu", path, line);
    error_set(error, place, "%s", reason);
    return false;
}

static bool parse(struct suppressions *suppressions, const char *text, size_t size,
                  struct error *error)
{
    size_t capacity = 0;
    size_t number = 0;
    while (size > 0) {
        const char *end = memchr(text, '\n', size);
        size_t length = end != NULL ? (size_t)(end - text) : size;
        size_t used = end != NULL ? length + 1 : length;
        const char *line = trim(text, &length);
        text += used;
        size -= used;
        number++;
        if (length == 0 || *line == '#')
            continue;
        const char *reason = reason_to_refuse(line, length);
        if (reason != NULL)
            return refuse(suppressions->path, number, reason, error);
        suppressions->items = heap_grow(suppressions->items, &capacity, suppressions->count + 1,
                                        sizeof(*suppressions->items));
        suppressions->items[suppressions->count++] = (struct suppression){
            .pattern =
                arena_text(suppressions->arena, line + strlen(PREFIX), length - strlen(PREFIX)),
            .line = number,
        };
    }
    return true;
}

struct suppressions *suppressions_read(const char *path, struct error *error)
{
    uint8_t *bytes;
    size_t size;
    if (!file_bytes_read_any(path, FILE_MOST_BYTES, &bytes, &size, error))
        return NULL;
    struct arena *arena = arena_new();
    struct suppressions *suppressions = arena_alloc(arena, sizeof(*suppressions));
    suppressions->arena = arena;
    suppressions->path = arena_text(arena, path, strlen(path));
    bool ok = parse(suppressions, (const char *)bytes, size, error);
    free(bytes);
    if (ok)
        return suppressions;
    suppressions_free(suppressions);
    return NULL;
}

void suppressions_free(struct suppressions *suppressions)
{
    if (suppressions == NULL)
        return;
    free(suppressions->items);
    arena_free(suppressions->arena);
}
