/* report_total.c: what 100% of a report is.
 *
 * Whether two samples are one matters only where values have both signs or overflow; then each
 * sample is written out as a row of numbers that are equal exactly when the samples are, and found
 * by hash. Locations are numbered the same way first. */
#include "cli/report_total.h"

#include "cli/mapping_groups.h"
#include "cli/report_labels.h"
#include "cli/wrapping.h"
#include "proto/arena.h"
#include "proto/hash_set.h"
#include "proto/profile.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Rows of words, each once; equal rows have equal numbers. */
struct row {
    int64_t value; /* sum over all samples of this row */
    bool is_base;
    uint32_t number;
    size_t count;
    uint64_t words[];
};

struct row_set {
    struct arena *arena;
    struct hash_set set;
    uint64_t *words; /* the row being made */
    size_t count, capacity;
    struct row **rows;
    size_t row_count, row_capacity;
};

static void row_set_init(struct row_set *set, struct arena *arena)
{
    *set = (struct row_set){.arena = arena};
    hash_set_init(&set->set);
}

static void row_set_done(struct row_set *set)
{
    hash_set_done(&set->set);
    free(set->words);
    free(set->rows);
}

static void add_word(struct row_set *set, uint64_t word)
{
    set->words = heap_grow(set->words, &set->capacity, set->count + 1, sizeof(*set->words));
    set->words[set->count++] = word;
}

/* Equal texts of a profile are the same pointer. */
static void add_text(struct row_set *set, const char *text)
{
    add_word(set, (uintptr_t)text);
}

static bool same_words(const void *item, const void *wanted)
{
    const struct row *row = item;
    const struct row_set *set = wanted;
    return row->count == set->count &&
           memcmp(row->words, set->words, set->count * sizeof(*set->words)) == 0;
}

/* The row made so far, and an empty one to make next. */
static struct row *take_row(struct row_set *set)
{
    size_t size = set->count * sizeof(*set->words);
    uint64_t hash = hash_set_hash(&set->set, set->words, size);
    struct row *row = hash_set_find(&set->set, hash, same_words, set);
    if (row == NULL) {
        row = arena_alloc(set->arena, sizeof(*row) + size);
        row->count = set->count;
        row->number = (uint32_t)set->row_count;
        if (size > 0)
            memcpy(row->words, set->words, size);
        hash_set_add(&set->set, hash, row);
        set->rows =
            heap_grow(set->rows, &set->row_capacity, set->row_count + 1, sizeof(struct row *));
        set->rows[set->row_count++] = row;
    }
    set->count = 0;
    return row;
}

static void add_location(struct row_set *set, const struct mapping_groups *groups,
                         const struct profile_location *location)
{
    const struct profile_mapping *mapping = location->mapping;
    add_word(set, mapping != NULL ? (uint64_t)mapping_groups_first(groups, mapping)->index + 1 : 0);
    add_word(set, location->address - (mapping != NULL ? mapping->memory_start : 0));
    add_word(set, location->is_folded);
    for (uint32_t i = 0; i < location->line_count; i++) {
        const struct profile_function *function = location->lines[i].function;
        add_word(set, (uint64_t)location->lines[i].line);
        if (function == NULL)
            continue;
        add_word(set, (uint64_t)function->start_line);
        add_text(set, function->name);
        add_text(set, function->system_name);
        add_text(set, function->filename);
    }
}

/* By location index, numbers that are equal for equal locations. */
static uint32_t *number_locations(const struct profile *profile,
                                  const struct mapping_groups *groups, struct arena *arena)
{
    struct row_set set;
    uint32_t *numbers = arena_array(arena, profile->location_count, sizeof(*numbers));
    row_set_init(&set, arena);
    for (uint32_t i = 0; i < profile->location_count; i++) {
        add_location(&set, groups, profile->locations[i]);
        numbers[i] = take_row(&set)->number;
    }
    row_set_done(&set);
    return numbers;
}

/* By kind and key; labels of one key keep their order, which tells samples apart. */
static int compare_labels(const void *left, const void *right)
{
    const struct profile_label *a = *(const struct profile_label *const *)left;
    const struct profile_label *b = *(const struct profile_label *const *)right;
    if ((a->str != NULL) != (b->str != NULL))
        return a->str != NULL ? -1 : 1;
    int order = strcmp(a->key, b->key);
    return order != 0 ? order : (a > b) - (a < b);
}

static void add_labels(struct row_set *set, const struct profile_sample *sample)
{
    uint32_t count = 0;
    if (sample->label_count == 0)
        return;
    const struct profile_label **sorted = heap_alloc(sample->label_count * sizeof(*sorted));
    for (uint32_t i = 0; i < sample->label_count; i++)
        if (report_label_is_given(&sample->labels[i]))
            sorted[count++] = &sample->labels[i];
    qsort(sorted, count, sizeof(*sorted), compare_labels);
    for (uint32_t i = 0; i < count; i++) {
        add_text(set, sorted[i]->key);
        add_text(set, sorted[i]->str);
        if (sorted[i]->str != NULL)
            continue;
        add_word(set, (uint64_t)sorted[i]->num);
        add_text(set, sorted[i]->num_unit);
    }
    free(sorted);
}

bool report_total_is_base(const struct profile_sample *sample)
{
    for (uint32_t i = 0; i < sample->label_count; i++) {
        const struct profile_label *label = &sample->labels[i];
        if (label->str != NULL && strcmp(label->key, "pprof::base") == 0 &&
            strcmp(label->str, "true") == 0)
            return true;
    }
    return false;
}

struct totals {
    int64_t all, base;
};

static void totals_add(struct totals *totals, int64_t value, bool is_base_sample)
{
    value = wrapping_abs(value);
    totals->all = wrapping_add(totals->all, value);
    if (is_base_sample)
        totals->base = wrapping_add(totals->base, value);
}

/* Values of one sign add up to the same total, merged or not, unless they overflow. */
static bool merging_matters(const struct profile *profile, int sample_type_index)
{
    int64_t sum = 0;
    for (size_t i = 0; i < profile->sample_count; i++) {
        int64_t value = profile->samples[i]->values[sample_type_index];
        if (value < 0 || __builtin_add_overflow(sum, value, &sum))
            return true;
    }
    return false;
}

static void add_merged(struct totals *totals, const struct profile *profile,
                       const struct mapping_groups *groups, int sample_type_index)
{
    struct arena *arena = arena_new();
    const uint32_t *numbers = number_locations(profile, groups, arena);
    struct row_set set;
    row_set_init(&set, arena);
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct profile_sample *sample = profile->samples[i];
        add_word(&set, sample->location_count);
        for (uint32_t j = 0; j < sample->location_count; j++)
            add_word(&set, numbers[sample->locations[j]->index]);
        add_labels(&set, sample);
        struct row *row = take_row(&set);
        row->value = wrapping_add(row->value, sample->values[sample_type_index]);
        row->is_base = report_total_is_base(sample);
    }
    for (size_t i = 0; i < set.row_count; i++)
        totals_add(totals, set.rows[i]->value, set.rows[i]->is_base);
    row_set_done(&set);
    arena_free(arena);
}

int64_t report_total(const struct profile *profile, const struct mapping_groups *groups,
                     int sample_type_index, bool *of_base)
{
    struct totals totals = {0};
    if (merging_matters(profile, sample_type_index))
        add_merged(&totals, profile, groups, sample_type_index);
    else
        for (size_t i = 0; i < profile->sample_count; i++)
            totals_add(&totals, profile->samples[i]->values[sample_type_index],
                       report_total_is_base(profile->samples[i]));
    *of_base = totals.base > 0;
    return *of_base ? totals.base : totals.all;
}
