/* collector_names.c: what the files of a run are called. */
#include "cli/collector_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/arena.h"
#include "proto/error.h"

struct names {
    char *pattern;
    bool has_percent;
    char **used; /* names given out */
    size_t used_count, used_capacity;
};

/* Text that grows; freed with free. */
struct text {
    char *bytes;
    size_t length, capacity;
};

static void text_add(struct text *text, const char *bytes, size_t length)
{
    text->bytes = heap_grow(text->bytes, &text->capacity, text->length + length + 1, 1);
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

struct names *names_new(const char *pattern, const char *suffix, struct error *error)
{
    struct text text = {0};
    if (pattern) {
        text_add(&text, pattern, strlen(pattern));
    } else {
        text_add(&text, "heap", 4);
        text_add(&text, suffix, strlen(suffix));
    }
    bool has_percent = false;
    for (const char *at = text.bytes; (at = strchr(at, '%')); at += 2) {
        has_percent = true;
        if (at[1] == '\0' || !strchr("pen%", at[1])) {
            error_set(error, text.bytes, "'%%%c' means nothing here: %%p, %%e, %%n and %%%% do",
                      at[1] ? at[1] : ' ');
            free(text.bytes);
            return NULL;
        }
    }
    struct names *names = heap_alloc(sizeof(*names));
    *names = (struct names){.pattern = text.bytes, .has_percent = has_percent};
    return names;
}

void names_free(struct names *names)
{
    if (!names)
        return;
    for (size_t i = 0; i < names->used_count; i++)
        free(names->used[i]);
    free(names->used);
    free(names->pattern);
    free(names);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void add_number(struct text *text, const char *before, uint32_t number)
{
    char digits[32];
    int length = snprintf(digits, sizeof(digits), "%s%u", before, number);
    text_add(text, digits, (size_t)length);
}

/* A program's name as part of a file name: no slash can be in it, and it is never empty. */
static void add_program(struct text *text, const char *executable)
{
    const char *name = base_name(executable);
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        name = "unknown";
    text_add(text, name, strlen(name));
}

static struct text expand(const struct names *names, const struct names_of *of)
{
    struct text text = {0};
    text_add(&text, "", 0);
    for (const char *at = names->pattern; *at != '\0'; at++) {
        if (*at != '%') {
            text_add(&text, at, 1);
            continue;
        }
        at++;
        if (*at == 'p')
            add_number(&text, "", of->pid);
        else if (*at == 'n')
            add_number(&text, "", of->sequence);
        else if (*at == 'e')
            add_program(&text, of->executable);
        else
            text_add(&text, "%", 1);
    }
    return text;
}

/* Puts ".NUMBER" before the suffix: "heap.prof" -> "heap.12.prof", "out/.x" -> "out/.x.12". */
static void insert_number(struct text *text, uint32_t number)
{
    const char *name = base_name(text->bytes);
    const char *dot = strrchr(name, '.');
    size_t at = dot && dot != name ? (size_t)(dot - text->bytes) : text->length;
    char *suffix = heap_text(text->bytes + at);
    text->length = at;
    add_number(text, ".", number);
    text_add(text, suffix, strlen(suffix));
    free(suffix);
}

static bool is_used(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->used_count; i++)
        if (strcmp(names->used[i], name) == 0)
            return true;
    return false;
}

char *names_next(struct names *names, const struct names_of *of)
{
    struct text text = expand(names, of);
    if (!names->has_percent && !of->is_command)
        insert_number(&text, of->pid);
    if (of->earlier_image != 0)
        insert_number(&text, of->earlier_image);
    if (is_used(names, text.bytes) && names->has_percent)
        insert_number(&text, of->pid);
    char *plain = heap_text(text.bytes);
    for (uint32_t number = 2; is_used(names, text.bytes); number++) {
        text.length = 0;
        text_add(&text, plain, strlen(plain));
        insert_number(&text, number);
    }
    free(plain);
    names->used =
        heap_grow(names->used, &names->used_capacity, names->used_count + 1, sizeof(*names->used));
    names->used[names->used_count++] = heap_text(text.bytes);
    return text.bytes;
}

char *names_preview(const struct names *names, const char *executable)
{
    const char *base = base_name(names->pattern);
    for (const char *at = names->pattern; at < base; at++) {
        if (*at != '%')
            continue;
        if (at[1] != '%' && at[1] != 'e' && at[1] != 'n')
            return NULL; /* the folder's name has the pid in it */
        at++;
    }
    struct names_of of = {.sequence = 1, .is_command = true, .executable = executable};
    return expand(names, &of).bytes;
}

bool names_is_fixed(const struct names *names)
{
    return !names->has_percent;
}
