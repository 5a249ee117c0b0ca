/* flame_names.c: a number for each frame name, the same one for equal names.
 *
 * Every function and every location is a candidate for a name of its own: the function's name, or
 * the place of code that has none. The candidates are sorted once by text; equal neighbours get one
 * number. Numbers follow the sorted texts, so they do not depend on the order of the file. */
#include "cli/flame_names.h"

#include "cli/frame_names.h"
#include "proto/arena.h"
#include "proto/profile.h"

#include <stdlib.h>
#include <string.h>

/* A place is a file name and an offset; longer ones are cut. */
#define PLACE_SIZE 512

struct candidate {
    const char *text;
    uint32_t *number; /* where its number goes */
};

struct flame_names {
    struct arena *arena;
    const char **texts;        /* by number */
    uint32_t *function_number; /* by function->index; UINT32_MAX when it has no name */
    uint32_t *location_number; /* by location->index, of its place; UINT32_MAX when not needed */
};

static int candidate_compare(const void *left, const void *right)
{
    return strcmp(((const struct candidate *)left)->text, ((const struct candidate *)right)->text);
}

/* A location's place is named only where one of its frames has no name: most have one. */
static bool location_needs_place(const struct frame_names *frame_names,
                                 const struct profile_location *location)
{
    for (uint32_t i = 0; i < location->line_count; i++) {
        const struct profile_function *function = location->lines[i].function;
        if (function == NULL || frame_names_of(frame_names, function)[0] == '\0')
            return true;
    }
    return location->line_count == 0;
}

static size_t collect_functions(struct flame_names *names, const struct profile *profile,
                                const struct frame_names *frame_names, struct candidate *candidates)
{
    size_t count = 0;
    for (uint32_t i = 0; i < profile->function_count; i++) {
        const char *text = frame_names_of(frame_names, profile->functions[i]);
        names->function_number[i] = UINT32_MAX;
        if (text[0] != '\0')
            candidates[count++] = (struct candidate){text, &names->function_number[i]};
    }
    return count;
}

static size_t collect_places(struct flame_names *names, const struct profile *profile,
                             const struct frame_names *frame_names, struct candidate *candidates)
{
    size_t count = 0;
    for (uint32_t i = 0; i < profile->location_count; i++) {
        names->location_number[i] = UINT32_MAX;
        if (!location_needs_place(frame_names, profile->locations[i]))
            continue;
        char place[PLACE_SIZE];
        frame_names_place(profile->locations[i], place, sizeof place);
        const char *text = arena_text(names->arena, place, strlen(place));
        candidates[count++] = (struct candidate){text, &names->location_number[i]};
    }
    return count;
}

struct flame_names *flame_names_new(const struct profile *profile,
                                    const struct frame_names *frame_names)
{
    struct arena *arena = arena_new();
    struct flame_names *names = arena_alloc(arena, sizeof *names);
    size_t most = (size_t)profile->function_count + profile->location_count;
    struct candidate *candidates = heap_alloc((most + 1) * sizeof *candidates);

    names->arena = arena;
    names->texts = arena_array(arena, most + 1, sizeof *names->texts);
    names->function_number = arena_array(arena, profile->function_count, sizeof(uint32_t));
    names->location_number = arena_array(arena, profile->location_count, sizeof(uint32_t));
    size_t count = collect_functions(names, profile, frame_names, candidates);
    count += collect_places(names, profile, frame_names, candidates + count);
    qsort(candidates, count, sizeof *candidates, candidate_compare);

    /* Number 0 is the root's alone: a function called "all" is another frame. */
    uint32_t number = FLAME_NAME_ROOT;
    names->texts[number] = "all";
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(candidates[i].text, candidates[i - 1].text) != 0)
            names->texts[++number] = candidates[i].text;
        *candidates[i].number = number;
    }
    free(candidates);
    return names;
}

void flame_names_free(struct flame_names *names)
{
    if (names != NULL)
        arena_free(names->arena);
}

uint32_t flame_names_of(const struct flame_names *names, const struct profile_function *function,
                        const struct profile_location *location)
{
    if (function != NULL && names->function_number[function->index] != UINT32_MAX)
        return names->function_number[function->index];
    return names->location_number[location->index];
}

const char *flame_names_text(const struct flame_names *names, uint32_t number)
{
    return names->texts[number];
}
