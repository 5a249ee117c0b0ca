/* store_reader.c: one slot of the shared store becomes a profile.
 *
 * A stack is followed from its leaf node to the root. Nodes are numbered as they are made, so a
 * parent's number is below its child's: a chain that does not go down is damage, and this rule is
 * also what bounds the walk. */
#include "cli/store_reader.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/store_modules.h"
#include "proto/arena.h"
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
    uint32_t epoch; /* of the peak */
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

static const char *const loss_names[STORE_LOSS_COUNT] = {
#define LOSS_ROW(name, words) [STORE_LOSS_##name] = #name,
    STORE_LOSSES(LOSS_ROW)
#undef LOSS_ROW
};

/* A sum that has gone below zero (the runtime's numbers wrap) holds nothing. */
static int64_t whole(uint64_t value)
{
    return value > INT64_MAX ? 0 : (int64_t)value;
}

static int64_t whole_objects(uint64_t objects_q16)
{
    uint64_t value = (uint64_t)whole(objects_q16);
    return (int64_t)((value >> 16) + ((value >> 15) & 1));
}

static int64_t add_saturated(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static double variance_bytes(uint64_t variance_q16, uint64_t rate)
{
    return (double)whole(variance_q16) / 65536.0 * (double)rate * (double)rate;
}

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

/* The frames of the stack that ends in node, leaf first, into frames[0..MAX_FRAMES). */
static uint32_t stack_frames(struct builder *builder, uint32_t node,
                             struct profile_location **frames)
{
    uint32_t count = 0;
    bool damaged = node >= builder->snapshot->node_count;
    while (node != 0 && !damaged) {
        struct profile_location *location = node_location(builder, node);
        uint32_t parent = builder->snapshot->nodes[node].parent;
        damaged = !location || parent >= node || count >= MAX_FRAMES - 1;
        if (location && count < MAX_FRAMES - 1)
            frames[count++] = location;
        node = parent;
    }
    if (damaged)
        builder->totals->damaged_stacks++;
    if (damaged || count == 0)
        frames[count] =
            pseudo_location(builder, count ? STORE_FRAME_TRUNCATED : STORE_FRAME_NO_STACK);
    return damaged || count == 0 ? count + 1 : count;
}

static void set_pair(int64_t *values, enum store_value objects, const struct store_counts *counts)
{
    values[objects] = whole_objects(counts->objects_q16);
    values[objects + 1] = whole(counts->bytes);
}

static void sum_up(struct store_totals *totals, const int64_t *values,
                   const struct profile_sample_extra *extra)
{
    for (int i = 0; i < STORE_VALUE_COUNT; i++)
        totals->values[i] = add_saturated(totals->values[i], values[i]);
    totals->alloc_variance += extra->alloc_space_variance;
    totals->inuse_variance += extra->inuse_space_variance;
    totals->peak_variance += extra->peak_space_variance;
    totals->samples += (uint64_t)extra->alloc_samples;
    totals->stack_count++;
}

static void add_stack(struct builder *builder, const struct store_stack *stack)
{
    /* The peak is what was saved at it, or what is in use when nothing changed since. */
    const struct store_counts *peak =
        stack->saved_epoch == builder->epoch ? &stack->saved : &stack->inuse;
    int64_t values[STORE_VALUE_COUNT];
    set_pair(values, STORE_ALLOC_OBJECTS, &stack->alloc);
    set_pair(values, STORE_INUSE_OBJECTS, &stack->inuse);
    set_pair(values, STORE_PEAK_OBJECTS, peak);
    bool any = false;
    for (int i = 0; i < STORE_VALUE_COUNT; i++)
        any = any || values[i] != 0;
    if (!any)
        return;
    struct profile_location *frames[MAX_FRAMES];
    uint32_t count = stack_frames(builder, stack->node, frames);
    struct profile_sample *sample = profile_add_sample(builder->profile, frames, count, values);
    uint64_t rate = builder->image->rate;
    sample->extra = (struct profile_sample_extra){
        .alloc_space_variance = variance_bytes(stack->alloc.variance_q16, rate),
        .inuse_space_variance = variance_bytes(stack->inuse.variance_q16, rate),
        .peak_space_variance = variance_bytes(peak->variance_q16, rate),
        .alloc_samples = whole(stack->alloc.samples),
        .inuse_samples = whole(stack->inuse.samples),
        .peak_samples = whole(peak->samples),
    };
    sum_up(builder->totals, values, &sample->extra);
}

static void __attribute__((format(printf, 2, 3)))
add_comment(struct profile *profile, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    profile_add_comment(profile, text);
}

/* For people first; what machines read begins with '#', which pprof's header leaves out. */
static void add_comments(struct profile *profile, const struct store_image *image,
                         const struct store_totals *totals)
{
    add_comment(profile, "heapprof %s", HEAPPROF_VERSION);
    if (image->command_line[0] != '\0')
        add_comment(profile, "command: %s", image->command_line);
    add_comment(profile, "pid: %u", image->pid);
    add_comment(profile, "# rate %llu", (unsigned long long)image->rate);
    add_comment(profile, "# seed %llu", (unsigned long long)image->seed);
    if (image->fork_ordinal != 0)
        add_comment(profile, "# fork %u", image->fork_ordinal);
    add_comment(profile, "# samples %llu", (unsigned long long)totals->samples);
    add_comment(profile, "# peak_after_ns %llu", (unsigned long long)totals->peak_after_ns);
    for (int i = 0; i < STORE_LOSS_COUNT; i++) {
        char name[64] = "";
        for (size_t k = 0; loss_names[i][k] != '\0' && k < sizeof(name) - 1; k++)
            name[k] = (char)tolower((unsigned char)loss_names[i][k]);
        if (totals->losses[i] != 0)
            add_comment(profile, "# loss %s %llu %llu", name, (unsigned long long)totals->losses[i],
                        (unsigned long long)totals->loss_bytes[i]);
    }
    if (totals->damaged_stacks != 0)
        add_comment(profile, "# damaged_stacks %u", totals->damaged_stacks);
}

static void copy_header(struct store_totals *totals, const struct store_snapshot *snapshot,
                        const struct store_image *image)
{
    const struct store_header *header = &snapshot->header;
    memcpy(totals->losses, header->losses, sizeof(totals->losses));
    memcpy(totals->loss_bytes, header->loss_bytes, sizeof(totals->loss_bytes));
    totals->runtime_bytes = header->runtime_bytes;
    totals->module_count = snapshot->module_count;
    if (header->peak_ns > image->start_ns && header->peak_ns <= image->end_ns)
        totals->peak_after_ns = header->peak_ns - image->start_ns;
}

static void set_times(struct profile *profile, const struct store_image *image)
{
    profile->time_nanos = image->start_time_ns;
    if (image->end_ns > image->start_ns)
        profile->duration_nanos = whole(image->end_ns - image->start_ns);
    profile->period_type.type = profile_intern(profile, "space");
    profile->period_type.unit = profile_intern(profile, "bytes");
    profile->period = whole(image->rate);
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
        .epoch =
            (uint32_t)(snapshot->header.live.low >> 48 | (snapshot->header.live.high >> 48) << 16),
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
    for (uint32_t i = 1; i < snapshot->stack_count; i++)
        add_stack(&builder, &snapshot->stacks[i]);
    add_comments(builder.profile, image, builder.totals);
    free(builder.by_node);
    store_modules_free(builder.modules);
    return builder.profile;
}
