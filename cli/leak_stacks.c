/* leak_stacks.c: what is in use in a profile, stack by stack.
 *
 * Each location is read once: into the numbers of its frames' texts, and the suppression that it
 * meets. A stack is then a row of numbers, found by its hash. */
#include "cli/leak_stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/frame_filter.h"
#include "cli/frame_names.h"
#include "cli/saturating.h"
#include "cli/source_path.h"
#include "cli/suppressions.h"
#include "proto/arena.h"
#include "proto/hash_set.h"
#include "proto/profile.h"
#include "symbolize/demangle.h"

#define PLACE_SIZE 4096

/* A location, as far as it was needed yet. */
struct place {
    bool is_read, is_matched;
    uint32_t *frames; /* of the lines that are shown, innermost first */
    uint32_t frame_count;
    size_t suppression;
};

/* The stacks being collected. */
struct collection {
    struct leak_stacks *leaks;
    const struct profile *profile;
    const struct suppressions *suppressions; /* may be NULL */
    size_t none;                             /* the suppression of what is not suppressed */
    struct frame_names *names;
    struct frame_filter *filter;
    struct place *places; /* by location index */
    struct hash_set set;  /* of struct leak_stack */
    struct leak_stack **stacks;
    size_t stack_count, stack_capacity;
    uint32_t *frames; /* the stack being read, and its suppression */
    size_t frame_count, frame_capacity;
    size_t suppression;
};

/* --- frames ---------------------------------------------------------------------------------- */

static uint32_t number_of_text(struct collection *collection, const char *text)
{
    return (uint32_t)text_table_add(&collection->leaks->texts, text, strlen(text))->index;
}

/* "name file:line", or with the module where the source is not known. */
static uint32_t number_of_frame(struct collection *collection, const char *name,
                                const struct profile_line *line,
                                const struct profile_mapping *mapping)
{
    char *text;
    int length;
    size_t base_length = 0;
    const char *file = source_path_trim(line->function->filename);
    const char *base = mapping ? source_path_base(mapping->filename, &base_length) : "";
    if (file[0] != '\0' && line->line > 0)
        length = asprintf(&text, "%s %s:%" PRId64, name, file, line->line);
    else if (file[0] != '\0')
        length = asprintf(&text, "%s %s", name, file);
    else if (mapping && mapping->filename[0] != '\0')
        length = asprintf(&text, "%s (%.*s)", name, (int)base_length, base);
    else
        return number_of_text(collection, name);
    if (length < 0)
        return number_of_text(collection, name);
    uint32_t number = number_of_text(collection, text);
    free(text);
    return number;
}

static uint32_t number_of_line(struct collection *collection,
                               const struct profile_location *location, uint32_t line)
{
    char place[PLACE_SIZE];
    const struct profile_line *at = line < location->line_count ? &location->lines[line] : NULL;
    const char *name = at && at->function ? frame_names_of(collection->names, at->function) : "";
    if (name[0] != '\0')
        return number_of_frame(collection, name, at, location->mapping);
    return number_of_text(collection, frame_names_place(location, place, sizeof(place)));
}

/* The location with the numbers of its frames. */
static const struct place *read_place(struct collection *collection,
                                      const struct profile_location *location)
{
    struct place *place = &collection->places[location->index];
    if (place->is_read)
        return place;
    uint32_t first = frame_filter_first_line(collection->filter, location);
    uint32_t count = location->line_count > 0 ? location->line_count - first : 1;
    place->frames = arena_array(collection->leaks->arena, count, sizeof(*place->frames));
    for (uint32_t i = 0; i < count; i++)
        place->frames[i] = number_of_line(collection, location, first + i);
    place->frame_count = count;
    place->is_read = true;
    return place;
}

static void push_frame(struct collection *collection, uint32_t number)
{
    collection->frames = heap_grow(collection->frames, &collection->frame_capacity,
                                   collection->frame_count + 1, sizeof(*collection->frames));
    collection->frames[collection->frame_count++] = number;
}

/* --- suppressions ---------------------------------------------------------------------------- */

static size_t match_function(struct collection *collection, const struct profile_function *function)
{
    char *full = demangle_full(function->system_name);
    const char *texts[] = {
        frame_names_of(collection->names, function),
        function->name,
        function->system_name,
        full ? full : "",
        function->filename,
    };
    size_t match = collection->none;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts) && match == collection->none; i++)
        match = suppressions_find(collection->suppressions, texts[i]);
    free(full);
    return match;
}

static size_t match_location(struct collection *collection, const struct profile_location *location)
{
    struct place *place = &collection->places[location->index];
    if (place->is_matched)
        return place->suppression;
    size_t match = collection->none;
    if (location->mapping)
        match = suppressions_find(collection->suppressions, location->mapping->filename);
    for (uint32_t i = 0; i < location->line_count && match == collection->none; i++)
        if (location->lines[i].function)
            match = match_function(collection, location->lines[i].function);
    place->suppression = match;
    place->is_matched = true;
    return match;
}

/* All frames count, those that are not shown too. */
static size_t match_sample(struct collection *collection, const struct profile_sample *sample)
{
    size_t match = collection->none;
    if (collection->suppressions == NULL || collection->none == 0)
        return match;
    for (uint32_t i = 0; i < sample->location_count && match == collection->none; i++)
        match = match_location(collection, sample->locations[i]);
    return match;
}

/* --- stacks ---------------------------------------------------------------------------------- */

static bool same_stack(const void *item, const void *wanted)
{
    const struct leak_stack *stack = item;
    const struct collection *collection = wanted;
    return stack->suppression == collection->suppression &&
           stack->depth == collection->frame_count &&
           memcmp(stack->frames, collection->frames, stack->depth * sizeof(stack->frames[0])) == 0;
}

/* The entry for the stack being read, made when it is new. */
static struct leak_stack *find_stack(struct collection *collection)
{
    size_t size = collection->frame_count * sizeof(collection->frames[0]);
    uint64_t hash = hash_set_hash(&collection->set, collection->frames, size);
    struct leak_stack *stack = hash_set_find(&collection->set, hash, same_stack, collection);
    if (stack != NULL)
        return stack;
    stack = arena_alloc(collection->leaks->arena, sizeof(*stack) + size);
    stack->sum.stacks = 1;
    stack->suppression = collection->suppression;
    stack->depth = (uint32_t)collection->frame_count;
    memcpy(stack->frames, collection->frames, size);
    hash_set_add(&collection->set, hash, stack);
    collection->stacks = heap_grow(collection->stacks, &collection->stack_capacity,
                                   collection->stack_count + 1, sizeof(*collection->stacks));
    collection->stacks[collection->stack_count++] = stack;
    return stack;
}

static void read_stack(struct collection *collection, const struct profile_sample *sample)
{
    collection->frame_count = 0;
    collection->suppression = match_sample(collection, sample);
    for (uint32_t i = frame_filter_first_location(collection->filter, sample);
         i < sample->location_count; i++) {
        const struct place *place = read_place(collection, sample->locations[i]);
        for (uint32_t k = 0; k < place->frame_count; k++)
            push_frame(collection, place->frames[k]);
    }
    if (collection->frame_count == 0)
        push_frame(collection, number_of_text(collection, "[no stack]"));
}

void leak_sum_add(struct leak_sum *sum, const struct leak_sum *more)
{
    sum->bytes = saturating_add(sum->bytes, more->bytes);
    sum->objects = saturating_add(sum->objects, more->objects);
    sum->variance += more->variance;
    sum->age_sum += more->age_sum;
    sum->live_objects += more->live_objects;
    sum->samples = saturating_add(sum->samples, more->samples);
    sum->stacks += more->stacks;
}

static void collect_samples(struct collection *collection, int bytes_index)
{
    int objects_index = profile_sample_type_index(collection->profile, "inuse_objects");
    collection->leaks->has_objects = objects_index >= 0;
    for (size_t i = 0; i < collection->profile->sample_count; i++) {
        const struct profile_sample *sample = collection->profile->samples[i];
        struct leak_sum sum = {
            .bytes = sample->values[bytes_index],
            .objects = objects_index >= 0 ? sample->values[objects_index] : 0,
            .variance = sample->extra.inuse_space_variance,
            .age_sum = sample->extra.age_sum,
            .live_objects = sample->extra.live_objects > 0
                                ? sample->extra.live_objects
                                : (double)(objects_index >= 0 ? sample->values[objects_index] : 0),
            .samples = sample->extra.inuse_samples,
        };
        if (sum.bytes == 0 && sum.objects == 0)
            continue;
        read_stack(collection, sample);
        leak_sum_add(&find_stack(collection)->sum, &sum);
    }
}

/* Most bytes first, then most objects, then by what the frames say: the same in each run. */
static int compare_stacks(const void *left, const void *right, void *context)
{
    const struct leak_stack *a = *(struct leak_stack *const *)left;
    const struct leak_stack *b = *(struct leak_stack *const *)right;
    const struct text_table *texts = context;
    if (a->sum.bytes != b->sum.bytes)
        return a->sum.bytes > b->sum.bytes ? -1 : 1;
    if (a->sum.objects != b->sum.objects)
        return a->sum.objects > b->sum.objects ? -1 : 1;
    for (uint32_t i = 0; i < a->depth && i < b->depth; i++)
        if (a->frames[i] != b->frames[i])
            return strcmp(texts->texts[a->frames[i]]->bytes, texts->texts[b->frames[i]]->bytes);
    return (a->depth > b->depth) - (a->depth < b->depth);
}

/* Sums up what is left of each stack; the ones to be shown into leaks. */
static void sort_out(struct collection *collection)
{
    struct leak_stacks *leaks = collection->leaks;
    leaks->stacks = arena_array(leaks->arena, collection->stack_count, sizeof(*leaks->stacks));
    for (size_t i = 0; i < collection->stack_count; i++) {
        struct leak_stack *stack = collection->stacks[i];
        if (stack->sum.bytes < 0 || (stack->sum.bytes == 0 && stack->sum.objects <= 0))
            continue;
        if (stack->suppression == collection->none) {
            leak_sum_add(&leaks->total, &stack->sum);
            leaks->stacks[leaks->count++] = stack;
        } else {
            leak_sum_add(&leaks->suppressed, &stack->sum);
            leak_sum_add(&leaks->used[stack->suppression], &stack->sum);
        }
    }
    if (leaks->count > 0)
        qsort_r(leaks->stacks, leaks->count, sizeof(*leaks->stacks), compare_stacks, &leaks->texts);
}

void leak_stacks_init(struct leak_stacks *leaks, const struct profile *profile, int bytes_index,
                      const struct suppressions *suppressions)
{
    *leaks = (struct leak_stacks){.arena = arena_new()};
    text_table_init(&leaks->texts, leaks->arena);
    leaks->unit = profile->sample_types[bytes_index].unit;
    struct collection collection = {
        .leaks = leaks,
        .profile = profile,
        .suppressions = suppressions,
        .none = suppressions ? suppressions->count : 0,
        .names = frame_names_new(profile),
        .places = arena_array(leaks->arena, profile->location_count, sizeof(struct place)),
    };
    collection.filter = frame_filter_new(profile, collection.names);
    hash_set_init(&collection.set);
    leaks->used = arena_array(leaks->arena, collection.none, sizeof(*leaks->used));
    collect_samples(&collection, bytes_index);
    sort_out(&collection);
    hash_set_done(&collection.set);
    frame_filter_free(collection.filter);
    frame_names_free(collection.names);
    free(collection.stacks);
    free(collection.frames);
}

void leak_stacks_done(struct leak_stacks *leaks)
{
    text_table_done(&leaks->texts);
    arena_free(leaks->arena);
}

bool leak_stacks_exceed(const struct leak_stacks *leaks, uint64_t limit)
{
    if (limit == 0)
        return leaks->count > 0;
    return leaks->total.bytes > 0 && (uint64_t)leaks->total.bytes > limit;
}
