/* report_labels.c: samples by the value of one of their labels.
 *
 * Texts of a profile are interned, so a value is a few words, found by hash. */
#include "cli/report_labels.h"

#include "cli/quantity.h"
#include "cli/report_nodes.h"
#include "proto/arena.h"
#include "proto/hash_set.h"
#include "proto/profile.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All zero for samples without the label. Hashed as bytes: no padding. */
struct label_value {
    const char *str, *num_unit; /* interned */
    int64_t num;
};

struct label_node {
    struct label_value value;
    struct report_node node;
};

/* Nodes while they are being made. */
struct label_maker {
    struct report_nodes *nodes;
    const struct text *nothing;
    const char *key;
    struct hash_set set;
};

bool report_label_is_given(const struct profile_label *label)
{
    return label->str != NULL || label->num != 0 || label->num_unit[0] != '\0';
}

static const struct profile_label *find_label(const struct profile_sample *sample, const char *key)
{
    for (uint32_t i = 0; i < sample->label_count; i++)
        if (strcmp(sample->labels[i].key, key) == 0 && report_label_is_given(&sample->labels[i]))
            return &sample->labels[i];
    return NULL;
}

bool report_labels_has(const struct profile *profile, const char *key)
{
    for (size_t i = 0; i < profile->sample_count; i++)
        if (find_label(profile->samples[i], key) != NULL)
            return true;
    return false;
}

char *report_labels_keys(const struct profile *profile, char keys[REPORT_LABELS_KEYS_SIZE])
{
    struct arena *arena = arena_new();
    struct text_table seen;
    text_table_init(&seen, arena);
    for (size_t i = 0; i < profile->sample_count; i++)
        for (uint32_t j = 0; j < profile->samples[i]->label_count; j++) {
            const char *key = profile->samples[i]->labels[j].key;
            text_table_add(&seen, key, strlen(key));
        }
    size_t used = 0;
    keys[0] = '\0';
    for (size_t i = 1; i < seen.count; i++) { /* [0] is "" */
        const char *separator = used > 0 ? ", " : "";
        if (strlen(separator) + seen.texts[i]->length >= REPORT_LABELS_KEYS_SIZE - used)
            continue;
        used += (size_t)snprintf(keys + used, REPORT_LABELS_KEYS_SIZE - used, "%s%s", separator,
                                 seen.texts[i]->bytes);
    }
    text_table_done(&seen);
    arena_free(arena);
    return keys;
}

/* A number as values of its unit are shown; where two decimals are not all of it, in the unit it
 * was given in: rows must not look the same. As in pprof, a number without unit is in the one that
 * its key names, as "bytes" does. */
static char *number_text(const struct label_value *value, const char *key,
                         char text[QUANTITY_TEXT_SIZE])
{
    const char *unit;
    const char *from = value->num_unit[0] != '\0' ? value->num_unit : key;
    double hundredths = quantity_scale(value->num, from, "auto", &unit) * 100;
    bool is_whole = hundredths > (double)INT64_MIN && hundredths < (double)INT64_MAX &&
                    hundredths == (double)(int64_t)hundredths;
    if (unit[0] != '\0')
        return quantity_text_in(value->num, from, is_whole ? "auto" : from, text);
    snprintf(text, QUANTITY_TEXT_SIZE, "%" PRId64, value->num);
    return text;
}

static const struct text *title_of(struct label_maker *maker, const struct label_value *value)
{
    char number[QUANTITY_TEXT_SIZE], *absent = NULL;
    const char *title = value->str;
    if (value->num_unit != NULL && title == NULL)
        title = number_text(value, maker->key, number);
    else if (title == NULL)
        title = asprintf(&absent, "[no %s]", maker->key) >= 0 ? absent : "";
    const struct text *text = text_table_add(&maker->nodes->texts, title, strlen(title));
    free(absent);
    return text;
}

static bool same_value(const void *item, const void *wanted)
{
    const struct label_node *found = item;
    return memcmp(&found->value, wanted, sizeof(found->value)) == 0;
}

static struct report_node *find_node(struct label_maker *maker, const struct label_value *value)
{
    struct report_nodes *nodes = maker->nodes;
    uint64_t hash = hash_set_hash(&maker->set, value, sizeof(*value));
    struct label_node *found = hash_set_find(&maker->set, hash, same_value, value);
    if (found != NULL)
        return &found->node;
    found = arena_alloc(nodes->arena, sizeof(*found));
    found->value = *value;
    found->node.name = title_of(maker, value);
    found->node.file = found->node.object = maker->nothing;
    found->node.start_line = value->num;
    hash_set_add(&maker->set, hash, found);
    nodes->nodes =
        heap_grow(nodes->nodes, &nodes->capacity, nodes->count + 1, sizeof(*nodes->nodes));
    nodes->nodes[nodes->count++] = &found->node;
    return &found->node;
}

void report_labels_init(struct report_nodes *nodes, const struct profile *profile, const char *key)
{
    struct label_maker maker = {.nodes = nodes, .key = key};
    *nodes = (struct report_nodes){.arena = arena_new()};
    text_table_init(&nodes->texts, nodes->arena);
    hash_set_init(&maker.set);
    maker.nothing = text_table_add(&nodes->texts, "", 0);
    nodes->of_sample = arena_array(nodes->arena, profile->sample_count, sizeof(*nodes->of_sample));
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct profile_label *label = find_label(profile->samples[i], key);
        struct label_value value = {0};
        if (label != NULL && label->str != NULL)
            value.str = label->str;
        else if (label != NULL)
            value = (struct label_value){.num_unit = label->num_unit, .num = label->num};
        nodes->of_sample[i] = find_node(&maker, &value);
    }
    hash_set_done(&maker.set);
}
