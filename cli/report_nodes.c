/* report_nodes.c: the functions (or lines) of a profile that a report sums up.
 *
 * Made once per location, so that going through the samples is following pointers. Texts are in a
 * table of their own: equal texts are the same pointer, and a node's key is a few words. */
#include "cli/report_nodes.h"

#include "cli/frame_filter.h"
#include "cli/frame_names.h"
#include "cli/mapping_groups.h"
#include "cli/source_path.h"
#include "proto/arena.h"
#include "proto/hash_set.h"
#include "proto/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What equal nodes have in common. No padding: it is hashed as bytes. */
struct node_key {
    const struct text *name, *file, *object;
    int64_t line, start_line;
};

/* Nodes while they are being made. */
struct node_maker {
    struct report_nodes *nodes;
    const struct report_source *source;
    bool by_lines;
    struct hash_set set;
    const struct text **names; /* by function index; NULL while not needed */
    const struct text **files; /* likewise */
};

static const struct text *add_text(struct report_nodes *nodes, const char *text)
{
    return text_table_add(&nodes->texts, text, strlen(text));
}

static const struct text *name_of(struct node_maker *maker, const struct profile_function *function)
{
    const struct text **name = &maker->names[function->index];
    if (*name == NULL)
        *name = add_text(maker->nodes, frame_names_of(maker->source->names, function));
    return *name;
}

static const struct text *file_of(struct node_maker *maker, const struct profile_function *function)
{
    const struct text **file = &maker->files[function->index];
    if (*file != NULL)
        return *file;
    const char *path = source_path_trim(function->filename);
    if (!maker->by_lines || path[0] == '\0') {
        *file = add_text(maker->nodes, "");
        return *file;
    }
    char *clean = heap_alloc(strlen(path) + 2);
    *file = add_text(maker->nodes, source_path_clean(path, clean));
    free(clean);
    return *file;
}

static const struct text *object_of(struct node_maker *maker,
                                    const struct profile_location *location)
{
    return add_text(maker->nodes, mapping_groups_file(maker->source->groups, location->mapping));
}

/* The key of code of which nothing is known but its file. */
static struct node_key key_of_place(struct node_maker *maker,
                                    const struct profile_location *location)
{
    const struct text *nothing = add_text(maker->nodes, "");
    return (struct node_key){
        .name = nothing, .file = nothing, .object = object_of(maker, location)};
}

static struct node_key key_of_line(struct node_maker *maker,
                                   const struct profile_location *location,
                                   const struct profile_line *line)
{
    if (line->function == NULL)
        return key_of_place(maker, location);
    struct node_key key = {
        .name = name_of(maker, line->function),
        .file = file_of(maker, line->function),
        .object = add_text(maker->nodes, ""),
        .line = maker->by_lines ? line->line : 0,
    };
    if (key.name->length == 0) {
        key.object = object_of(maker, location);
        key.start_line = line->function->start_line;
    }
    return key;
}

static bool same_key(const void *item, const void *wanted)
{
    const struct report_node *node = item;
    const struct node_key *key = wanted;
    return node->name == key->name && node->file == key->file && node->object == key->object &&
           node->line == key->line && node->start_line == key->start_line;
}

static struct report_node *find_node(struct node_maker *maker, const struct node_key *key)
{
    struct report_nodes *nodes = maker->nodes;
    uint64_t hash = hash_set_hash(&maker->set, key, sizeof(*key));
    struct report_node *node = hash_set_find(&maker->set, hash, same_key, key);
    if (node != NULL)
        return node;
    node = arena_alloc(nodes->arena, sizeof(*node));
    node->name = key->name;
    node->file = key->file;
    node->object = key->object;
    node->line = key->line;
    node->start_line = key->start_line;
    hash_set_add(&maker->set, hash, node);
    nodes->nodes =
        heap_grow(nodes->nodes, &nodes->capacity, nodes->count + 1, sizeof(*nodes->nodes));
    nodes->nodes[nodes->count++] = node;
    return node;
}

static size_t shown_frame_count(const struct report_source *source,
                                const struct profile_location *location)
{
    if (location->line_count == 0)
        return 1;
    return location->line_count - frame_filter_first_line(source->filter, location);
}

static void count_frames(struct report_nodes *nodes, const struct report_source *source)
{
    const struct profile *profile = source->profile;
    size_t total = 0;
    nodes->first = arena_array(nodes->arena, (size_t)profile->location_count + 1, sizeof(size_t));
    for (uint32_t i = 0; i < profile->location_count; i++) {
        nodes->first[i] = total;
        total += shown_frame_count(source, profile->locations[i]);
    }
    nodes->first[profile->location_count] = total;
    nodes->of_frame = arena_array(nodes->arena, total, sizeof(*nodes->of_frame));
}

static void make_location(struct node_maker *maker, const struct profile_location *location)
{
    struct report_node **frame = maker->nodes->of_frame + maker->nodes->first[location->index];
    if (location->line_count == 0) {
        struct node_key key = key_of_place(maker, location);
        *frame = find_node(maker, &key);
        return;
    }
    uint32_t line = frame_filter_first_line(maker->source->filter, location);
    for (; line < location->line_count; line++) {
        struct node_key key = key_of_line(maker, location, &location->lines[line]);
        *frame = find_node(maker, &key);
        if (line + 1 < location->line_count)
            (*frame)->may_be_inlined = true;
        frame++;
    }
}

void report_nodes_init(struct report_nodes *nodes, const struct report_source *source,
                       bool by_lines)
{
    const struct profile *profile = source->profile;
    struct node_maker maker = {.nodes = nodes, .source = source, .by_lines = by_lines};
    *nodes = (struct report_nodes){.arena = arena_new()};
    text_table_init(&nodes->texts, nodes->arena);
    hash_set_init(&maker.set);
    maker.names = arena_array(nodes->arena, profile->function_count, sizeof(*maker.names));
    maker.files = arena_array(nodes->arena, profile->function_count, sizeof(*maker.files));
    count_frames(nodes, source);
    for (uint32_t i = 0; i < profile->location_count; i++)
        make_location(&maker, profile->locations[i]);
    hash_set_done(&maker.set);
}

void report_nodes_done(struct report_nodes *nodes)
{
    text_table_done(&nodes->texts);
    free(nodes->nodes);
    arena_free(nodes->arena);
}

/* What follows the function's name, or stands for it: malloc'ed. */
static char *place_text(const struct report_node *node)
{
    char *text = NULL;
    size_t length;
    int printed = -1;
    if (node->line != 0) {
        printed = asprintf(&text, "%s:%" PRId64, node->file->bytes, node->line);
    } else if (node->file->length > 0 || node->name->length > 0) {
        return heap_text(node->file->bytes);
    } else if (node->object->length > 0) {
        const char *base = source_path_base(node->object->bytes, &length);
        printed = asprintf(&text, "[%.*s]", (int)length, base);
    }
    return printed >= 0 ? text : heap_text("<unknown>");
}

const char *report_nodes_title(struct report_nodes *nodes, const struct report_node *node)
{
    char *place = place_text(node);
    size_t place_length = strlen(place);
    bool both = node->name->length > 0 && place_length > 0;
    size_t length = node->name->length + both + place_length;
    char *title = arena_alloc(nodes->arena, length + 1);
    memcpy(title, node->name->bytes, node->name->length);
    if (both)
        title[node->name->length] = ' ';
    memcpy(title + length - place_length, place, place_length);
    free(place);
    return title;
}

/* "{name system_name address file start_line line object}"; system_name and address are not used
 * here, and shown as "" and 0. */
static char *describe(const struct report_node *node)
{
    char *text = NULL;
    if (asprintf(&text, "{%s  0 %s %" PRId64 " %" PRId64 " %s}", node->name->bytes,
                 node->file->bytes, node->start_line, node->line, node->object->bytes) < 0)
        return heap_text("");
    return text;
}

int report_node_compare(const struct report_node *a, const struct report_node *b)
{
    char *a_text = describe(a);
    char *b_text = describe(b);
    int order = strcmp(a_text, b_text);
    free(a_text);
    free(b_text);
    return order;
}
