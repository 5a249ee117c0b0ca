/* folded.c: a profile as folded stacks, the text that flame graph tools read.
 *
 * Each name is made safe and numbered once; a stack is a row of numbers, so equal stacks are found
 * by hash and sorting seldom looks at letters. No text of a whole line is ever built: a stack may
 * be hundreds of thousands of frames deep. */
#include "cli/folded.h"

#include "cli/frame_filter.h"
#include "cli/frame_names.h"
#include "cli/saturating.h"
#include "proto/arena.h"
#include "proto/hash_set.h"
#include "proto/profile.h"
#include "proto/text_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_SIZE 4096

struct stack {
    int64_t value;
    uint32_t depth;
    uint32_t names[]; /* indices into the table, root first */
};

struct folder {
    const struct profile *profile;
    struct frame_names *frame_names;
    struct frame_filter *filter;
    struct arena *arena;
    struct text_table names;
    uint32_t *function_names; /* by function index */
    uint32_t *place_names;    /* by location index; 0 (which is "") when not needed yet */
    struct hash_set set;      /* of the stacks */
    struct stack **stacks;
    size_t stack_count, stack_capacity;
    uint32_t *frames; /* the stack being read */
    size_t frame_count, frame_capacity;
};

/* Length of a character at text that tears a line apart, 0 when there is none: controls, and what
 * Unicode-aware readers take for line ends (U+0085, U+2028, U+2029). */
static size_t breaking_length(const char *text)
{
    unsigned char byte = (unsigned char)text[0];
    if (byte < 0x20 || byte == 0x7f)
        return 1;
    if (strncmp(text, "\xc2\x85", 2) == 0)
        return 2;
    if (strncmp(text, "\xe2\x80\xa8", 3) == 0 || strncmp(text, "\xe2\x80\xa9", 3) == 0)
        return 3;
    return 0;
}

/* Copies name to safe (which has room for it) as folded.h promises; its length is returned. */
static size_t make_safe(const char *name, char *safe)
{
    size_t length = 0;
    while (*name != '\0') {
        size_t breaking = breaking_length(name);
        char byte = breaking > 0 ? ' ' : *name == ';' ? ':' : *name;
        name += breaking > 0 ? breaking : 1;
        if (byte != ' ' || length > 0)
            safe[length++] = byte;
    }
    while (length > 0 && safe[length - 1] == ' ')
        length--;
    return length;
}

static uint32_t number_of_name(struct folder *folder, const char *name)
{
    char *safe = heap_alloc(strlen(name) + 1);
    size_t length = make_safe(name, safe);
    const struct text *text =
        length > 0 ? text_table_add(&folder->names, safe, length)
                   : text_table_add(&folder->names, "[unknown]", strlen("[unknown]"));
    free(safe);
    return (uint32_t)text->index;
}

static uint32_t number_of_place(struct folder *folder, const struct profile_location *location)
{
    char place[PLACE_SIZE];
    uint32_t *name = &folder->place_names[location->index];
    if (*name == 0)
        *name = number_of_name(folder, frame_names_place(location, place, sizeof(place)));
    return *name;
}

static uint32_t number_of_line(struct folder *folder, const struct profile_location *location,
                               uint32_t line)
{
    const struct profile_function *function = location->lines[line].function;
    if (function == NULL || frame_names_of(folder->frame_names, function)[0] == '\0')
        return number_of_place(folder, location);
    return folder->function_names[function->index];
}

static void push_frame(struct folder *folder, uint32_t name)
{
    folder->frames = heap_grow(folder->frames, &folder->frame_capacity, folder->frame_count + 1,
                               sizeof(*folder->frames));
    folder->frames[folder->frame_count++] = name;
}

/* Puts the sample's frames into folder->frames, root first. */
static void read_frames(struct folder *folder, const struct profile_sample *sample)
{
    uint32_t first = frame_filter_first_location(folder->filter, sample);
    folder->frame_count = 0;
    for (uint32_t i = sample->location_count; i > first; i--) {
        const struct profile_location *location = sample->locations[i - 1];
        uint32_t first_line = frame_filter_first_line(folder->filter, location);
        if (location->line_count == 0)
            push_frame(folder, number_of_place(folder, location));
        for (uint32_t line = location->line_count; line > first_line; line--)
            push_frame(folder, number_of_line(folder, location, line - 1));
    }
    if (folder->frame_count == 0)
        push_frame(folder, number_of_name(folder, "[no stack]"));
}

static bool same_frames(const void *item, const void *wanted)
{
    const struct stack *stack = item;
    const struct folder *folder = wanted;
    return stack->depth == folder->frame_count &&
           memcmp(stack->names, folder->frames, stack->depth * sizeof(stack->names[0])) == 0;
}

/* The entry for folder->frames, made when it is new. */
static struct stack *find_stack(struct folder *folder)
{
    size_t size = folder->frame_count * sizeof(folder->frames[0]);
    uint64_t hash = hash_set_hash(&folder->set, folder->frames, size);
    struct stack *stack = hash_set_find(&folder->set, hash, same_frames, folder);
    if (stack != NULL)
        return stack;
    stack = arena_alloc(folder->arena, sizeof(*stack) + size);
    stack->depth = (uint32_t)folder->frame_count;
    memcpy(stack->names, folder->frames, size);
    hash_set_add(&folder->set, hash, stack);
    folder->stacks = heap_grow(folder->stacks, &folder->stack_capacity, folder->stack_count + 1,
                               sizeof(*folder->stacks));
    folder->stacks[folder->stack_count++] = stack;
    return stack;
}

static void fold_samples(struct folder *folder, int sample_type_index)
{
    for (size_t i = 0; i < folder->profile->sample_count; i++) {
        const struct profile_sample *sample = folder->profile->samples[i];
        int64_t value = sample->values[sample_type_index];
        if (value == 0)
            continue;
        read_frames(folder, sample);
        struct stack *stack = find_stack(folder);
        stack->value = saturating_add(stack->value, value);
    }
}

/* Order of two different names that stand at the same depth. Where one is the beginning of the
 * other, it ends in ';', or in the space before the value: that sorts first, as in the text. */
static int compare_names(const struct text *a, bool a_is_last, const struct text *b, bool b_is_last)
{
    size_t shorter = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->bytes, b->bytes, shorter);
    if (order != 0)
        return order;
    int a_next = a->length > shorter ? (unsigned char)a->bytes[shorter] : a_is_last ? -1 : ';';
    int b_next = b->length > shorter ? (unsigned char)b->bytes[shorter] : b_is_last ? -1 : ';';
    return (a_next > b_next) - (a_next < b_next);
}

static int compare_stacks(const void *left, const void *right, void *context)
{
    const struct stack *a = *(struct stack *const *)left;
    const struct stack *b = *(struct stack *const *)right;
    const struct text_table *names = context;
    uint32_t shorter = a->depth < b->depth ? a->depth : b->depth;
    for (uint32_t i = 0; i < shorter; i++)
        if (a->names[i] != b->names[i])
            return compare_names(names->texts[a->names[i]], i + 1 == a->depth,
                                 names->texts[b->names[i]], i + 1 == b->depth);
    return (a->depth > b->depth) - (a->depth < b->depth);
}

static void write_stack(const struct folder *folder, const struct stack *stack, FILE *stream)
{
    for (uint32_t i = 0; i < stack->depth; i++) {
        const struct text *name = folder->names.texts[stack->names[i]];
        if (i > 0)
            putc_unlocked(';', stream);
        fwrite_unlocked(name->bytes, 1, name->length, stream);
    }
    fprintf(stream, " %" PRId64 "\n", stack->value);
}

static void folder_init(struct folder *folder, const struct profile *profile)
{
    *folder = (struct folder){.profile = profile, .arena = arena_new()};
    folder->frame_names = frame_names_new(profile);
    folder->filter = frame_filter_new(profile, folder->frame_names);
    text_table_init(&folder->names, folder->arena);
    hash_set_init(&folder->set);
    folder->function_names =
        arena_array(folder->arena, profile->function_count, sizeof(*folder->function_names));
    folder->place_names =
        arena_array(folder->arena, profile->location_count, sizeof(*folder->place_names));
    for (uint32_t i = 0; i < profile->function_count; i++)
        folder->function_names[i] =
            number_of_name(folder, frame_names_of(folder->frame_names, profile->functions[i]));
}

static void folder_done(struct folder *folder)
{
    frame_filter_free(folder->filter);
    frame_names_free(folder->frame_names);
    hash_set_done(&folder->set);
    text_table_done(&folder->names);
    arena_free(folder->arena);
    free(folder->stacks);
    free(folder->frames);
}

bool folded_write(const struct profile *profile, int sample_type_index, FILE *stream)
{
    struct folder folder;
    folder_init(&folder, profile);
    fold_samples(&folder, sample_type_index);
    if (folder.stack_count > 0)
        qsort_r(folder.stacks, folder.stack_count, sizeof(*folder.stacks), compare_stacks,
                &folder.names);
    for (size_t i = 0; i < folder.stack_count && !ferror(stream); i++)
        if (folder.stacks[i]->value != 0)
            write_stack(&folder, folder.stacks[i], stream);
    folder_done(&folder);
    return !ferror(stream);
}
