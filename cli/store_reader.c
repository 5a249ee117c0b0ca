/* store_reader.c: one slot of the shared store becomes a profile.
 *
 * A stack is followed from its leaf node to the root. Nodes are numbered as they are made, so a
 * parent's number is below its child's: a chain that does not go down is damage, and this rule is
 * also what bounds the walk. */
#include "cli/store_reader.h"

#include <stdlib.h>
#include <string.h>

#include "cli/saturating.h"
#include "cli/store_comments.h"
#include "cli/store_counters.h"
#include "cli/store_labels.h"
#include "cli/store_modules.h"
#include "proto/arena.h"
#include "proto/hash_set.h"
#include "proto/profile.h"

/* More frames than the runtime ever records, its pseudo frames included. */
#define MAX_FRAMES 1024u

struct builder {
    const struct store_snapshot *snapshot;
    const struct store_image *image;
    struct store_totals *totals;
    struct profile *profile;
    struct store_modules *modules;
    struct profile_location **by_node; /* node_count, NULL until needed */
    struct profile_location *pseudo[STORE_FRAME_NO_STACK + 1];
    struct hash_set samples; /* by frames and labels, where there are shards */
    bool has_shards;
    uint32_t epoch; /* of the peak */
    struct store_time time;
};

static const struct {
    const char *type, *unit;
} sample_types[STORE_VALUE_COUNT] = {
    [STORE_ALLOC_OBJECTS] = {"alloc_objects", "count"},
    [STORE_ALLOC_SPACE] = {"alloc_space", "bytes"},
    [STORE_INUSE_OBJECTS] = {"inuse_objects", "count"},
    [STORE_INUSE_SPACE] = {"inuse_space", "bytes"},
    [STORE_PEAK_OBJECTS] = {"peak_objects", "count"},
    [STORE_PEAK_SPACE] = {"peak_space", "bytes"},
};

static const char *const pseudo_names[STORE_FRAME_NO_STACK + 1] = {
    [STORE_FRAME_TRUNCATED] = "[truncated]",
    [STORE_FRAME_OTHER_STACKS] = "[other stacks]",
    [STORE_FRAME_NO_STACK] = "[no stack]",
};

static struct profile_location *pseudo_location(struct builder *builder, uint32_t frame)
{
    if (!builder->pseudo[frame]) {
        const char *name = pseudo_names[frame];
        struct profile_line line = {.function =
                                        profile_function(builder->profile, name, name, "", 0)};
        builder->pseudo[frame] = profile_add_location(builder->profile, NULL, 0);
        profile_set_lines(builder->profile, builder->pseudo[frame], &line, 1);
    }
    return builder->pseudo[frame];
}

/* The location of a node; NULL for a node that stands for no frame. */
static struct profile_location *node_location(struct builder *builder, uint32_t node)
{
    if (builder->by_node[node])
        return builder->by_node[node];
    uint64_t word = builder->snapshot->nodes[node].pc_word;
    uint64_t pc = word & STORE_PC_MASK;
    struct profile_location *location = NULL;
    if (pc >= STORE_FRAME_FIRST_PC)
        location =
            profile_location(builder->profile, store_modules_find(builder->modules, word), pc);
    else if (pc != STORE_FRAME_NONE && pc <= STORE_FRAME_NO_STACK)
        location = pseudo_location(builder, (uint32_t)pc);
    builder->by_node[node] = location;
    return location;
}

enum { MAX_LABELS = 3 }; /* thread and tid, bytes */

struct stack_frames {
    struct profile_location *locations[MAX_FRAMES]; /* leaf first */
    uint32_t count;
    struct profile_label labels[MAX_LABELS];
    unsigned label_count;
};

/* Follows the chain from node to the root; false when it is damaged. */
static bool follow_nodes(struct builder *builder, uint32_t node, struct stack_frames *frames)
{
    if (node >= builder->snapshot->node_count)
        return false;
    while (node != 0) {
        uint64_t pc = builder->snapshot->nodes[node].pc_word & STORE_PC_MASK;
        uint32_t parent = builder->snapshot->nodes[node].parent;
        if (pc >= STORE_FRAME_LABEL) {
            frames->label_count += store_labels(builder->snapshot, builder->image, pc,
                                                frames->labels + frames->label_count,
                                                MAX_LABELS - frames->label_count);
        } else {
            struct profile_location *location = node_location(builder, node);
            if (!location || frames->count >= MAX_FRAMES - 1)
                return false;
            frames->locations[frames->count++] = location;
        }
        if (parent >= node)
            return false;
        node = parent;
    }
    return true;
}

static void find_frames(struct builder *builder, uint32_t node, struct stack_frames *frames)
{
    frames->count = 0;
    frames->label_count = 0;
    bool intact = follow_nodes(builder, node, frames);
    if (!intact)
        builder->totals->damaged_stacks++;
    if (intact && frames->count != 0)
        return;
    enum store_frame stands_for = frames->count != 0 ? STORE_FRAME_TRUNCATED : STORE_FRAME_NO_STACK;
    frames->locations[frames->count++] = pseudo_location(builder, stands_for);
}

static void sum_up(struct store_totals *totals, const int64_t *values,
                   const struct profile_sample_extra *extra)
{
    for (int i = 0; i < STORE_VALUE_COUNT; i++)
        totals->values[i] = saturating_add(totals->values[i], values[i]);
    totals->alloc_variance += extra->alloc_space_variance;
    totals->inuse_variance += extra->inuse_space_variance;
    totals->peak_variance += extra->peak_space_variance;
    totals->samples += (uint64_t)extra->alloc_samples;
    totals->inuse_samples += (uint64_t)extra->inuse_samples;
    totals->peak_samples += (uint64_t)extra->peak_samples;
}

/* --- stacks that are counted in parts -------------------------------------------------------- */

static bool has_shards(const struct store_snapshot *snapshot)
{
    for (uint32_t i = 1; i < snapshot->node_count; i++)
        if (snapshot->nodes[i].parent == 0 &&
            (snapshot->nodes[i].pc_word & ~STORE_FRAME_LABEL_VALUE) == STORE_FRAME_SHARD)
            return true;
    return false;
}

static bool same_label(const struct profile_label *a, const struct profile_label *b)
{
    bool same_text =
        a->str == NULL || b->str == NULL ? a->str == b->str : strcmp(a->str, b->str) == 0;
    return same_text && a->num == b->num && strcmp(a->key, b->key) == 0;
}

static bool is_of_frames(const void *item, const void *wanted)
{
    const struct profile_sample *sample = item;
    const struct stack_frames *frames = wanted;
    bool same =
        sample->location_count == frames->count && sample->label_count == frames->label_count &&
        memcmp(sample->locations, frames->locations, frames->count * sizeof(*frames->locations)) ==
            0;
    for (unsigned i = 0; same && i < frames->label_count; i++)
        same = same_label(&sample->labels[i], &frames->labels[i]);
    return same;
}

/* The sample of these frames and labels, with no values when it is new. */
static struct profile_sample *sample_of(struct builder *builder, const struct stack_frames *frames)
{
    static const int64_t no_values[STORE_VALUE_COUNT];
    uint64_t hash = 0;
    if (builder->has_shards) {
        hash = hash_set_hash(&builder->samples, frames->locations,
                             frames->count * sizeof(*frames->locations));
        struct profile_sample *found = hash_set_find(&builder->samples, hash, is_of_frames, frames);
        if (found)
            return found;
    }
    struct profile_sample *sample =
        profile_add_sample(builder->profile, frames->locations, frames->count, no_values);
    for (unsigned i = 0; i < frames->label_count; i++)
        profile_add_label(builder->profile, sample, &frames->labels[i]);
    if (builder->has_shards)
        hash_set_add(&builder->samples, hash, sample);
    builder->totals->stack_count++;
    return sample;
}

static void add_stack(struct builder *builder, const struct store_stack *stack)
{
    int64_t values[STORE_VALUE_COUNT];
    struct profile_sample_extra extra;
    store_stack_values(stack, builder->epoch, &builder->time, values, &extra);
    bool any = false;
    for (int i = 0; i < STORE_VALUE_COUNT; i++)
        any = any || values[i] != 0;
    if (!any)
        return;
    struct stack_frames frames;
    find_frames(builder, stack->node, &frames);
    struct profile_sample *sample = sample_of(builder, &frames);
    for (int i = 0; i < STORE_VALUE_COUNT; i++)
        sample->values[i] = saturating_add(sample->values[i], values[i]);
    profile_extra_add(&sample->extra, &extra);
    sum_up(builder->totals, values, &extra);
}

static void copy_header(struct store_totals *totals, const struct store_snapshot *snapshot,
                        const struct store_image *image)
{
    const struct store_header *header = &snapshot->header;
    memcpy(totals->losses, header->losses, sizeof(totals->losses));
    memcpy(totals->loss_bytes, header->loss_bytes, sizeof(totals->loss_bytes));
    totals->runtime_bytes = header->runtime_bytes;
    totals->module_count = snapshot->module_count;
    totals->peak_bytes = store_live_peak(header->live);
    totals->peak_rss = image->peak_rss > header->most_rss ? image->peak_rss : header->most_rss;
    totals->mimalloc_bytes = header->mimalloc_bytes;
    totals->mimalloc_most_bytes = header->mimalloc_most_bytes;
    totals->counted_bytes = header->counted_bytes;
    totals->counted_threads = header->counted_threads;
    if (header->peak_ns > image->start_ns && header->peak_ns <= image->end_ns)
        totals->peak_after_ns = header->peak_ns - image->start_ns;
}

static void set_times(struct profile *profile, const struct store_image *image)
{
    profile->time_nanos = image->start_time_ns;
    if (image->end_ns > image->start_ns)
        profile->duration_nanos = store_whole(image->end_ns - image->start_ns);
    profile->period_type.type = profile_intern(profile, "space");
    profile->period_type.unit = profile_intern(profile, "bytes");
    profile->period = store_whole(image->rate);
    profile->default_sample_type =
        profile_intern(profile, image->is_running ? "inuse_space" : "peak_space");
}

struct profile *store_profile(const struct store_snapshot *snapshot,
                              const struct store_image *image, struct store_totals *totals)
{
    struct store_totals own = {0};
    struct builder builder = {
        .snapshot = snapshot,
        .image = image,
        .totals = totals ? totals : &own,
        .profile = profile_new(),
        .epoch = store_live_epoch(snapshot->header.live),
        .time = store_time_of(&snapshot->header, image),
    };
    *builder.totals = (struct store_totals){0};
    for (int i = 0; i < STORE_VALUE_COUNT; i++)
        profile_add_sample_type(builder.profile, sample_types[i].type, sample_types[i].unit);
    set_times(builder.profile, image);
    copy_header(builder.totals, snapshot, image);
    builder.modules = store_modules_new(builder.profile, snapshot, image->executable);
    size_t size = ((size_t)snapshot->node_count + 1) * sizeof(*builder.by_node);
    builder.by_node = heap_alloc(size);
    memset(builder.by_node, 0, size);
    builder.has_shards = has_shards(snapshot);
    hash_set_init(&builder.samples);
    for (uint32_t i = 1; i < snapshot->stack_count; i++)
        add_stack(&builder, &snapshot->stacks[i]);
    if (snapshot->header.live_is_late)
        builder.totals->peak_bytes = (uint64_t)builder.totals->values[STORE_PEAK_SPACE];
    hash_set_done(&builder.samples);
    store_add_comments(builder.profile, snapshot, image, builder.totals);
    free(builder.by_node);
    store_modules_free(builder.modules);
    return builder.profile;
}
