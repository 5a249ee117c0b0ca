/* profile.c: builds the profile model.
 *
 * Elements lie in the arena and never move, so pointers to them stay good while the profile grows;
 * the arrays of pointers are malloc'ed, because they grow. Texts are interned, so a function's
 * identity is three pointers and a number. Nothing is ever removed. */
#include "proto/profile.h"

#include "proto/arena.h"
#include "proto/text_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct profile_index {
    struct text_table texts;
    struct hash_set functions;
    struct hash_set locations;
    size_t sample_type_capacity;
    size_t sample_capacity;
    size_t mapping_capacity;
    size_t location_capacity;
    size_t function_capacity;
    size_t comment_capacity;
};

/* What makes a function the same; no padding, so it is hashed and compared as bytes. */
struct function_key {
    const char *name;
    const char *system_name;
    const char *filename;
    int64_t start_line;
};

struct location_key {
    uint64_t mapping; /* index + 1, 0 for none */
    uint64_t address;
};

struct profile *profile_new(void)
{
    struct profile *profile = heap_alloc(sizeof(*profile));
    memset(profile, 0, sizeof(*profile));
    profile->arena = arena_new();
    profile->index = arena_alloc(profile->arena, sizeof(*profile->index));
    text_table_init(&profile->index->texts, profile->arena);
    hash_set_init(&profile->index->functions);
    hash_set_init(&profile->index->locations);
    const char *empty = profile_intern(profile, "");
    profile->period_type = (struct profile_value_type){.type = empty, .unit = empty};
    profile->default_sample_type = empty;
    profile->drop_frames = empty;
    profile->keep_frames = empty;
    return profile;
}

void profile_free(struct profile *profile)
{
    if (!profile)
        return;
    text_table_done(&profile->index->texts);
    hash_set_done(&profile->index->functions);
    hash_set_done(&profile->index->locations);
    free(profile->sample_types);
    free(profile->samples);
    free(profile->mappings);
    free(profile->locations);
    free(profile->functions);
    free(profile->comments);
    arena_free(profile->arena);
    free(profile);
}

const char *profile_intern_length(struct profile *profile, const char *text, size_t length)
{
    return text_table_add(&profile->index->texts, text, text ? length : 0)->bytes;
}

const char *profile_intern(struct profile *profile, const char *text)
{
    return profile_intern_length(profile, text, text ? strlen(text) : 0);
}

void profile_add_sample_type(struct profile *profile, const char *type, const char *unit)
{
    uint32_t at = profile->sample_type_count;
    assert(profile->sample_count == 0); /* each sample has one value a type */
    profile->sample_types = heap_grow(profile->sample_types, &profile->index->sample_type_capacity,
                                      (size_t)at + 1, sizeof(*profile->sample_types));
    profile->sample_types[at].type = profile_intern(profile, type);
    profile->sample_types[at].unit = profile_intern(profile, unit);
    profile->sample_type_count++;
}

void profile_add_comment(struct profile *profile, const char *text)
{
    uint32_t at = profile->comment_count;
    profile->comments = heap_grow(profile->comments, &profile->index->comment_capacity,
                                  (size_t)at + 1, sizeof(*profile->comments));
    profile->comments[at] = profile_intern(profile, text);
    profile->comment_count++;
}

struct profile_mapping *profile_add_mapping(struct profile *profile,
                                            const struct profile_mapping *mapping)
{
    struct profile_mapping *added = arena_alloc(profile->arena, sizeof(*added));
    *added = *mapping;
    added->index = profile->mapping_count;
    added->filename = profile_intern(profile, mapping->filename);
    added->build_id = profile_intern(profile, mapping->build_id);
    profile->mappings = heap_grow(profile->mappings, &profile->index->mapping_capacity,
                                  (size_t)added->index + 1, sizeof(struct profile_mapping *));
    profile->mappings[profile->mapping_count++] = added;
    return added;
}

static bool same_function(const void *item, const void *wanted)
{
    const struct profile_function *function = item;
    const struct function_key *key = wanted;
    return function->name == key->name && function->system_name == key->system_name &&
           function->filename == key->filename && function->start_line == key->start_line;
}

struct profile_function *profile_function(struct profile *profile, const char *name,
                                          const char *system_name, const char *filename,
                                          int64_t start_line)
{
    struct function_key key = {.name = profile_intern(profile, name),
                               .system_name = profile_intern(profile, system_name),
                               .filename = profile_intern(profile, filename),
                               .start_line = start_line};
    struct hash_set *known = &profile->index->functions;
    uint64_t hash = hash_set_hash(known, &key, sizeof(key));
    struct profile_function *function = hash_set_find(known, hash, same_function, &key);
    if (function)
        return function;
    function = arena_alloc(profile->arena, sizeof(*function));
    *function = (struct profile_function){.index = profile->function_count,
                                          .name = key.name,
                                          .system_name = key.system_name,
                                          .filename = key.filename,
                                          .start_line = start_line};
    hash_set_add(known, hash, function);
    profile->functions = heap_grow(profile->functions, &profile->index->function_capacity,
                                   (size_t)function->index + 1, sizeof(struct profile_function *));
    profile->functions[profile->function_count++] = function;
    return function;
}

static struct location_key location_key_of(const struct profile_mapping *mapping, uint64_t address)
{
    return (struct location_key){.mapping = mapping ? (uint64_t)mapping->index + 1 : 0,
                                 .address = address};
}

static bool same_location(const void *item, const void *wanted)
{
    const struct profile_location *location = item;
    const struct location_key *key = wanted;
    struct location_key own = location_key_of(location->mapping, location->address);
    return own.mapping == key->mapping && own.address == key->address;
}

static struct profile_location *location_new(struct profile *profile,
                                             struct profile_mapping *mapping, uint64_t address)
{
    struct profile_location *location = arena_alloc(profile->arena, sizeof(*location));
    location->index = profile->location_count;
    location->mapping = mapping;
    location->address = address;
    profile->locations = heap_grow(profile->locations, &profile->index->location_capacity,
                                   (size_t)location->index + 1, sizeof(struct profile_location *));
    profile->locations[profile->location_count++] = location;
    return location;
}

/* The known location of this key, or NULL and *hash to add one under. */
static struct profile_location *location_find(const struct profile *profile,
                                              const struct profile_mapping *mapping,
                                              uint64_t address, uint64_t *hash)
{
    struct location_key key = location_key_of(mapping, address);
    const struct hash_set *known = &profile->index->locations;
    *hash = hash_set_hash(known, &key, sizeof(key));
    return hash_set_find(known, *hash, same_location, &key);
}

struct profile_location *profile_location(struct profile *profile, struct profile_mapping *mapping,
                                          uint64_t address)
{
    uint64_t hash;
    struct profile_location *location = location_find(profile, mapping, address, &hash);
    if (location)
        return location;
    location = location_new(profile, mapping, address);
    hash_set_add(&profile->index->locations, hash, location);
    return location;
}

struct profile_location *profile_add_location(struct profile *profile,
                                              struct profile_mapping *mapping, uint64_t address)
{
    uint64_t hash;
    bool known = location_find(profile, mapping, address, &hash) != NULL;
    struct profile_location *location = location_new(profile, mapping, address);
    if (!known)
        hash_set_add(&profile->index->locations, hash, location);
    return location;
}

void profile_set_lines(struct profile *profile, struct profile_location *location,
                       const struct profile_line *lines, uint32_t count)
{
    location->lines = NULL;
    location->line_count = count;
    if (count == 0)
        return;
    location->lines = arena_array(profile->arena, count, sizeof(*lines));
    memcpy(location->lines, lines, count * sizeof(*lines));
}

struct profile_sample *profile_add_sample(struct profile *profile,
                                          struct profile_location *const *locations, uint32_t count,
                                          const int64_t *values)
{
    struct profile_sample *sample = arena_alloc(profile->arena, sizeof(*sample));
    size_t value_count = profile->sample_type_count;
    sample->location_count = count;
    sample->locations = arena_array(profile->arena, count, sizeof(struct profile_location *));
    if (count > 0)
        memcpy(sample->locations, locations, count * sizeof(struct profile_location *));
    sample->values = arena_array(profile->arena, value_count, sizeof(*values));
    if (value_count > 0)
        memcpy(sample->values, values, value_count * sizeof(*values));
    profile->samples = heap_grow(profile->samples, &profile->index->sample_capacity,
                                 profile->sample_count + 1, sizeof(struct profile_sample *));
    profile->samples[profile->sample_count++] = sample;
    return sample;
}

static double add_double(double a, double b)
{
    return a + b;
}

static int64_t add_int64_t(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

void profile_extra_add(struct profile_sample_extra *sum, const struct profile_sample_extra *more)
{
    int64_t shortest = sum->lifetime_min;
    int64_t longest = sum->lifetime_max;
    if (more->freed_objects > 0 && (!(sum->freed_objects > 0) || more->lifetime_min < shortest))
        shortest = more->lifetime_min;
    if (more->freed_objects > 0 && more->lifetime_max > longest)
        longest = more->lifetime_max;
#define ADD(type, name) sum->name = add_##type(sum->name, more->name);
    PROFILE_SAMPLE_EXTRAS(ADD)
#undef ADD
    sum->lifetime_min = shortest;
    sum->lifetime_max = longest;
}

void profile_add_label(struct profile *profile, struct profile_sample *sample,
                       const struct profile_label *label)
{
    uint32_t count = sample->label_count;
    /* The array is full at 0 and at each power of two: then it doubles. */
    if ((count & (count - 1)) == 0) {
        struct profile_label *labels =
            arena_array(profile->arena, count > 0 ? (size_t)count * 2 : 1, sizeof(*labels));
        if (count > 0)
            memcpy(labels, sample->labels, count * sizeof(*labels));
        sample->labels = labels;
    }
    sample->labels[count] = (struct profile_label){
        .key = profile_intern(profile, label->key),
        .str = label->str ? profile_intern(profile, label->str) : NULL,
        .num = label->num,
        .num_unit = profile_intern(profile, label->num_unit),
    };
    sample->label_count++;
}

static int type_named(const struct profile *profile, const char *name)
{
    for (uint32_t i = 0; i < profile->sample_type_count; i++) {
        if (strcmp(profile->sample_types[i].type, name) == 0)
            return (int)i;
    }
    return -1;
}

/* A decimal index of a sample type; -1 for no such index, -2 for text that is no number. */
static int type_numbered(const struct profile *profile, const char *text)
{
    uint64_t number = 0;
    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9')
            return -2;
        if (number <= INT32_MAX)
            number = number * 10 + (uint64_t)(*at - '0');
    }
    return number < profile->sample_type_count ? (int)number : -1;
}

int profile_sample_type_index(const struct profile *profile, const char *name)
{
    if (!name || !name[0]) {
        int index = type_named(profile, profile->default_sample_type);
        return profile->default_sample_type[0] && index >= 0 ? index
                                                             : (int)profile->sample_type_count - 1;
    }
    int index = type_numbered(profile, name);
    if (index != -2)
        return index;
    index = type_named(profile, name);
    /* pprof: its option -inuse_space also fits profiles that say "space" */
    if (index < 0 && strncmp(name, "inuse_", strlen("inuse_")) == 0)
        index = type_named(profile, name + strlen("inuse_"));
    return index;
}
