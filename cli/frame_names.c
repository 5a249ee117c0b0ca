/* frame_names.c: the names that reports show for functions and for code without one.
 *
 * Only names that begin with '_' are offered to the demangler: all mangled names do. What it does
 * not know may be a full C++ name already; its parameters and template arguments go when they are
 * balanced. The rules are pprof's, so that both tools put the same functions together. */
#include "cli/frame_names.h"

#include "cli/source_path.h"
#include "proto/arena.h"
#include "proto/profile.h"
#include "symbolize/demangle.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct frame_names {
    const char **texts; /* by function index; into arena or the profile */
    struct arena *arena;
};

/* Whether name was made by a C++ demangler that left parameters or template arguments in it. Not
 * Java ("Type.<init>") nor Go ("pkg.(*Type[...]).Method"), whose brackets belong there. */
static bool looks_like_full_name(const char *name)
{
    if (strstr(name, ".<") != NULL || strstr(name, "]).") != NULL)
        return false;
    return strpbrk(name, "<>[]") != NULL || strstr(name, "::") != NULL;
}

/* Cuts everything from open to its close out of name, in place. Where they do not match, the rest
 * stays as it is. */
static void remove_bracketed(char *name, char open, char close)
{
    size_t nesting = 0;
    char *out = name;
    char *first = name; /* where the outermost open bracket went */
    for (const char *in = name; *in != '\0'; in++) {
        if (*in == close && nesting == 0) {
            memmove(out, in, strlen(in) + 1);
            return;
        }
        if (*in == open && nesting++ == 0)
            first = out;
        *out++ = *in;
        if (*in == close && --nesting == 0)
            out = first;
    }
    *out = '\0';
}

static const char *simplify(struct arena *arena, const char *system_name)
{
    if (system_name[0] == '_') {
        char *demangled = demangle_simple(system_name);
        bool differs = strcmp(demangled, system_name) != 0;
        const char *text = differs ? arena_text(arena, demangled, strlen(demangled)) : NULL;
        free(demangled);
        if (differs)
            return text;
    }
    if (!looks_like_full_name(system_name))
        return system_name;
    char *text = arena_text(arena, system_name, strlen(system_name));
    remove_bracketed(text, '(', ')');
    remove_bracketed(text, '<', '>');
    return text;
}

struct frame_names *frame_names_new(const struct profile *profile)
{
    struct arena *arena = arena_new();
    struct frame_names *names = arena_alloc(arena, sizeof(*names));
    names->arena = arena;
    names->texts = arena_array(arena, profile->function_count, sizeof(*names->texts));
    for (uint32_t i = 0; i < profile->function_count; i++) {
        const struct profile_function *function = profile->functions[i];
        bool named =
            function->name[0] != '\0' && strcmp(function->name, function->system_name) != 0;
        names->texts[i] = named ? function->name : simplify(arena, function->system_name);
    }
    return names;
}

void frame_names_free(struct frame_names *names)
{
    if (names != NULL)
        arena_free(names->arena);
}

const char *frame_names_of(const struct frame_names *names, const struct profile_function *function)
{
    return names->texts[function->index];
}

char *frame_names_place(const struct profile_location *location, char *text, size_t size)
{
    const struct profile_mapping *mapping = location->mapping;
    bool in_file = mapping != NULL && mapping->filename[0] != '\0';
    if (location->address == 0 && !in_file) {
        snprintf(text, size, "[unknown]");
        return text;
    }
    if (!in_file) {
        snprintf(text, size, "0x%" PRIx64, location->address);
        return text;
    }
    size_t length;
    const char *base = source_path_base(mapping->filename, &length);
    uint64_t offset = location->address - mapping->memory_start + mapping->file_offset;
    if (location->address == 0)
        snprintf(text, size, "[%.*s]", (int)(length < size ? length : size), base);
    else
        snprintf(text, size, "%.*s+0x%" PRIx64, (int)(length < size ? length : size), base, offset);
    return text;
}
