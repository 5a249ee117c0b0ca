/* store_reader_test.c: a slot of the store becomes a profile, whatever is in the slot. */
#include "cli/store_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "proto/error.h"
#include "proto/profile.h"

#define SLOT_BYTES STORE_MIN_SLOT_BYTES
#define TEXT_START 0x555500001000ull

static struct store_geometry geometry;

/* A slot to write into, as the runtime would. */
struct slot {
    int fd;
    char *bytes;
    struct store_header *header;
    struct store_module *modules;
    struct store_node *nodes;
    struct store_stack *stacks;
};

static int slot_open(void **state)
{
    static struct slot slot;
    slot.fd = memfd_create("slot", MFD_CLOEXEC);
    if (ftruncate(slot.fd, SLOT_BYTES) != 0 || !store_geometry_of(SLOT_BYTES, &geometry))
        return -1;
    slot.bytes = mmap(NULL, SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, slot.fd, 0);
    slot.header = (void *)slot.bytes;
    slot.modules = (void *)(slot.bytes + geometry.modules_offset);
    slot.nodes = (void *)(slot.bytes + geometry.nodes_offset);
    slot.stacks = (void *)(slot.bytes + geometry.stacks_offset);
    *slot.header = (struct store_header){
        .magic = STORE_MAGIC, .version = STORE_VERSION, .node_count = 1, .stack_count = 1};
    *state = &slot;
    return slot.bytes == MAP_FAILED ? -1 : 0;
}

static int slot_close(void **state)
{
    struct slot *slot = *state;
    munmap(slot->bytes, SLOT_BYTES);
    close(slot->fd);
    return 0;
}

static uint32_t add_node(struct slot *slot, uint32_t parent, uint64_t pc_word)
{
    uint32_t id = slot->header->node_count++;
    slot->nodes[id] = (struct store_node){.pc_word = pc_word, .parent = parent};
    return id;
}

static struct store_stack *add_stack(struct slot *slot, uint32_t node, uint64_t bytes)
{
    uint32_t id = slot->header->stack_count++;
    struct store_counts counts = {.objects_q16 = 3 << 15, .bytes = bytes, .samples = 1};
    slot->stacks[id] =
        (struct store_stack){.node = node, .saved_epoch = 9, .alloc = counts, .inuse = counts};
    return &slot->stacks[id];
}

static void add_module(struct slot *slot, uint32_t state, uint64_t start, const char *path)
{
    struct store_module *module = &slot->modules[slot->header->module_count++];
    *module = (struct store_module){.state = state,
                                    .path_offset = slot->header->text_used,
                                    .path_length = (uint32_t)strlen(path),
                                    .text_start = start,
                                    .text_limit = start + 0x1000,
                                    .file_offset = 0x1000,
                                    .build_id_length = 2,
                                    .build_id = {0xab, 0x01}};
    memcpy(slot->bytes + geometry.text_offset + slot->header->text_used, path, strlen(path));
    slot->header->text_used += module->path_length;
}

static struct store_totals totals;

static struct profile *read_slot(const struct slot *slot)
{
    struct store_snapshot snapshot;
    struct error error;
    if (!store_snapshot_read(&snapshot, slot->fd, 0, SLOT_BYTES, &error))
        return NULL;
    struct profile *profile = store_profile(&snapshot,
                                            &(struct store_image){.executable = "/bin/app",
                                                                  .command_line = "app -x",
                                                                  .pid = 5,
                                                                  .rate = 10,
                                                                  .seed = 7,
                                                                  .start_ns = 1000,
                                                                  .end_ns = 3000,
                                                                  .start_time_ns = 99},
                                            &totals);
    store_snapshot_free(&snapshot);
    return profile;
}

static const char *frame_name(const struct profile_sample *sample, uint32_t frame)
{
    const struct profile_location *location = sample->locations[frame];
    return location->line_count ? location->lines[0].function->name : "";
}

static void values_times_and_comments_are_taken_over(void **state)
{
    struct slot *slot = *state;
    add_module(slot, STORE_MODULE_LOADED, TEXT_START, "");
    uint32_t root = add_node(slot, 0, TEXT_START + 16);
    struct store_stack *stack = add_stack(slot, add_node(slot, root, TEXT_START + 32), 100);
    stack->alloc_variance =
        (struct store_variance){.bytes = {.low = 77}, .objects = {.low = 32768}};
    slot->header->peak_ns = 2500;
    slot->header->live.high = 123;
    slot->header->losses[STORE_LOSS_DEPTH_CUT] = 4;
    struct profile *profile = read_slot(slot);
    assert_int_equal(profile->sample_type_count, 6);
    assert_string_equal(profile->sample_types[5].type, "peak_space");
    assert_string_equal(profile->default_sample_type, "peak_space");
    assert_int_equal(profile->sample_count, 1);
    const struct profile_sample *sample = profile->samples[0];
    assert_int_equal(sample->location_count, 2);
    assert_int_equal(sample->locations[0]->address, TEXT_START + 32); /* leaf first */
    assert_int_equal(sample->values[0], 2);                           /* 1.5 rounded once */
    assert_int_equal(sample->values[1], 100);
    assert_true(sample->extra.alloc_space_variance == 77.0);
    assert_true(sample->extra.alloc_objects_variance == 0.5);
    assert_int_equal(totals.peak_bytes, 123);
    assert_int_equal(profile->period, 10);
    assert_int_equal(profile->time_nanos, 99);
    assert_int_equal(profile->duration_nanos, 2000);
    assert_int_equal(totals.peak_after_ns, 1500);
    assert_string_equal(profile->mappings[0]->filename, "/bin/app");
    assert_string_equal(profile->mappings[0]->build_id, "ab01");
    assert_ptr_equal(sample->locations[0]->mapping, profile->mappings[0]);
    bool found = false;
    for (uint32_t i = 0; i < profile->comment_count; i++)
        found = found || strcmp(profile->comments[i], "# loss depth_cut 4 0") == 0;
    assert_true(found);
    profile_free(profile);
}

static void the_peak_is_what_was_saved_in_its_epoch(void **state)
{
    struct slot *slot = *state;
    uint32_t node = add_node(slot, 0, TEXT_START);
    slot->header->live.low = 2ull << 48 | 12345;
    slot->header->live.high = 1ull << 48 | 12345; /* epoch 0x10002 */
    struct store_stack *saved = add_stack(slot, node, 100);
    saved->saved_epoch = 0x10002;
    saved->saved = (struct store_counts){.objects_q16 = 65536, .bytes = 40};
    struct store_stack *unchanged = add_stack(slot, node, 7);
    unchanged->saved_epoch = 2;
    unchanged->saved = (struct store_counts){.objects_q16 = 65536, .bytes = 1000};
    struct profile *profile = read_slot(slot);
    assert_int_equal(profile->samples[0]->values[STORE_PEAK_SPACE], 40);
    assert_int_equal(profile->samples[1]->values[STORE_PEAK_SPACE], 7);
    assert_int_equal(totals.values[STORE_PEAK_SPACE], 47);
    profile_free(profile);
}

static void pseudo_frames_become_named_functions(void **state)
{
    struct slot *slot = *state;
    uint32_t cut = add_node(slot, 0, STORE_FRAME_TRUNCATED);
    add_stack(slot, add_node(slot, cut, TEXT_START), 1);
    add_stack(slot, add_node(slot, 0, STORE_FRAME_OTHER_STACKS), 2);
    add_stack(slot, add_node(slot, 0, STORE_FRAME_NO_STACK), 3);
    add_stack(slot, 0, 4); /* a stack still being made */
    struct profile *profile = read_slot(slot);
    assert_string_equal(frame_name(profile->samples[0], 1), "[truncated]");
    assert_string_equal(frame_name(profile->samples[1], 0), "[other stacks]");
    assert_string_equal(frame_name(profile->samples[2], 0), "[no stack]");
    assert_string_equal(frame_name(profile->samples[3], 0), "[no stack]");
    assert_int_equal(totals.values[STORE_ALLOC_SPACE], 10);
    profile_free(profile);
}

static void addresses_find_their_modules(void **state)
{
    struct slot *slot = *state;
    add_module(slot, STORE_MODULE_LOADED, 0x7000000ull, "/lib/b.so");
    add_module(slot, STORE_MODULE_GONE, 0x6000000ull, "/lib/gone.so");
    add_module(slot, STORE_MODULE_LOADED, 0x9000000ull, ""); /* the main program */
    add_module(slot, STORE_MODULE_LOADED, 0x6000000ull, "linux-vdso.so.1");
    add_module(slot, STORE_MODULE_GONE, 0x5000000ull, "/lib/never.so");
    add_stack(slot, add_node(slot, 0, 0x6000800ull | 2ull << STORE_PC_BITS), 1);
    add_stack(slot, add_node(slot, 0, 0x6000800ull), 2);
    add_stack(slot, add_node(slot, 0, 0x7000fffull), 3);
    add_stack(slot, add_node(slot, 0, 0x7001000ull), 4); /* just behind it */
    add_stack(slot, add_node(slot, 0, 0x5000800ull), 5); /* unloaded, and no tag */
    add_stack(slot, add_node(slot, 0, 0x7000800ull | 99ull << STORE_PC_BITS), 6);
    struct profile *profile = read_slot(slot);
    assert_int_equal(profile->mapping_count, 4);
    assert_string_equal(profile->mappings[0]->filename, "/bin/app");
    assert_string_equal(profile->mappings[3]->filename, "/lib/b.so");
    assert_string_equal(profile->samples[0]->locations[0]->mapping->filename, "/lib/gone.so");
    assert_string_equal(profile->samples[1]->locations[0]->mapping->filename, "[vdso]");
    assert_string_equal(profile->samples[2]->locations[0]->mapping->filename, "/lib/b.so");
    assert_null(profile->samples[3]->locations[0]->mapping);
    assert_null(profile->samples[4]->locations[0]->mapping);
    assert_string_equal(profile->samples[5]->locations[0]->mapping->filename, "/lib/b.so");
    profile_free(profile);
}

static void of_overlapping_modules_the_last_one_counts(void **state)
{
    struct slot *slot = *state;
    add_module(slot, STORE_MODULE_LOADED, 0x7000000ull, "/lib/a.so");
    add_module(slot, STORE_MODULE_LOADED, 0x7000800ull, "/lib/b.so");
    add_stack(slot, add_node(slot, 0, 0x7000100ull), 1);
    add_stack(slot, add_node(slot, 0, 0x7000900ull), 2);
    add_stack(slot, add_node(slot, 0, 0x7001100ull), 3);
    struct profile *profile = read_slot(slot);
    assert_string_equal(profile->samples[0]->locations[0]->mapping->filename, "/lib/a.so");
    assert_string_equal(profile->samples[1]->locations[0]->mapping->filename, "/lib/b.so");
    assert_string_equal(profile->samples[2]->locations[0]->mapping->filename, "/lib/b.so");
    profile_free(profile);
}

static void cycles_and_wild_indices_end(void **state)
{
    struct slot *slot = *state;
    uint32_t a = add_node(slot, 0, TEXT_START), b = add_node(slot, a, TEXT_START + 1);
    slot->nodes[a].parent = b; /* a cycle */
    add_stack(slot, b, 1);
    add_stack(slot, 1u << 30, 2);
    uint32_t chain = 0;
    for (uint64_t i = 0; i < 1500; i++)
        chain = add_node(slot, chain, TEXT_START + 100 + i);
    add_stack(slot, chain, 4);
    slot->header->module_count = UINT32_MAX;
    slot->header->text_used = UINT32_MAX;
    struct profile *profile = read_slot(slot);
    assert_int_equal(profile->sample_count, 3);
    assert_int_equal(totals.values[STORE_ALLOC_SPACE], 7);
    assert_int_equal(totals.damaged_stacks, 3);
    assert_string_equal(frame_name(profile->samples[0], 2), "[truncated]");
    assert_int_equal(profile->samples[2]->location_count, 1024);
    profile_free(profile);
}

static void sums_below_zero_and_too_large_are_held(void **state)
{
    struct slot *slot = *state;
    uint32_t node = add_node(slot, 0, TEXT_START);
    struct store_stack *below = add_stack(slot, node, 5);
    below->inuse.bytes = (uint64_t)-5;
    add_stack(slot, node, INT64_MAX);
    add_stack(slot, node, INT64_MAX);
    struct profile *profile = read_slot(slot);
    assert_int_equal(profile->samples[0]->values[STORE_INUSE_SPACE], 0);
    assert_int_equal(totals.values[STORE_ALLOC_SPACE], INT64_MAX);
    profile_free(profile);
}

static void counts_beyond_the_capacity_are_clamped(void **state)
{
    struct slot *slot = *state;
    add_stack(slot, add_node(slot, 0, TEXT_START), 5);
    slot->header->node_count = slot->header->stack_count = UINT32_MAX;
    struct profile *profile = read_slot(slot);
    assert_int_equal(profile->sample_count, 1);
    profile_free(profile);
}

static void an_unused_slot_is_an_empty_profile(void **state)
{
    struct slot *slot = *state;
    memset(slot->header, 0, sizeof(*slot->header));
    assert_false(store_slot_has_samples(slot->fd, 0));
    struct profile *profile = read_slot(slot);
    assert_int_equal(profile->sample_count, 0);
    assert_int_equal(profile->sample_type_count, 6);
    profile_free(profile);
}

static void an_overwritten_header_is_an_error(void **state)
{
    struct slot *slot = *state;
    slot->header->magic ^= 1;
    assert_null(read_slot(slot));
    slot->header->magic ^= 1;
    slot->header->version++;
    assert_null(read_slot(slot));
    struct store_snapshot snapshot;
    struct error error;
    assert_false(store_snapshot_read(&snapshot, slot->fd, 0, 4096, &error));
    assert_false(store_snapshot_read(&snapshot, slot->fd, SLOT_BYTES, SLOT_BYTES, &error));
}

static void random_slots_do_no_harm(void **state)
{
    struct slot *slot = *state;
    srandom(1);
    for (int round = 0; round < 40; round++) {
        uint32_t *words = (uint32_t *)(void *)slot->bytes;
        for (size_t i = 3; i < SLOT_BYTES / sizeof(*words); i++)
            words[i] = (uint32_t)random() >> (random() % 28);
        struct profile *profile = read_slot(slot);
        assert_non_null(profile);
        profile_free(profile);
    }
}

/* Ticks of 2 ns since 600; the profile ends at tick 1600 of the counter, 1000 after the origin. */
static struct profile *read_slot_with_ticks(const struct slot *slot)
{
    struct store_snapshot snapshot;
    struct error error;
    slot->header->tick_kind = STORE_TICK_TSC;
    slot->header->origin_ticks = 600;
    assert_true(store_snapshot_read(&snapshot, slot->fd, 0, SLOT_BYTES, &error));
    struct profile *profile = store_profile(
        &snapshot,
        &(struct store_image){
            .executable = "", .command_line = "", .rate = 10, .end_tsc = 1600, .tsc_hz = 500000000},
        &totals);
    store_snapshot_free(&snapshot);
    return profile;
}

static void lifetimes_and_ages_become_nanoseconds(void **state)
{
    struct slot *slot = *state;
    struct store_stack *stack = add_stack(slot, add_node(slot, 0, TEXT_START + 16), 100);
    stack->alloc = (struct store_counts){.objects_q16 = 5 << 16, .bytes = 500, .samples = 5};
    stack->inuse = (struct store_counts){.objects_q16 = 2 << 16, .bytes = 200, .samples = 2};
    stack->born.low = (100 + 500) << 16; /* ages 900 and 500 ticks */
    stack->lifetimes = (struct store_lifetimes){.sum = {.low = 60 << 16},
                                                .shortest = 10 + 1,
                                                .longest = 30,
                                                .temporary_q16 = 1 << 16,
                                                .foreign_q16 = 2 << 16};
    struct profile *profile = read_slot_with_ticks(slot);
    const struct profile_sample_extra *extra = &profile->samples[0]->extra;
    assert_true(extra->freed_objects == 3);
    assert_true(extra->lifetime_sum == 120);
    assert_int_equal(extra->lifetime_min, 20);
    assert_int_equal(extra->lifetime_max, 60);
    assert_true(extra->temporary_objects == 1);
    assert_true(extra->foreign_objects == 2);
    assert_true(extra->age_sum == 2800);
    profile_free(profile);
}

/* Sums that the program has overwritten, or of which a killed one has written one half. */
static void sums_stay_within_what_the_others_allow(void **state)
{
    struct slot *slot = *state;
    struct store_stack *stack = add_stack(slot, add_node(slot, 0, TEXT_START + 16), 100);
    const struct store_wide huge = {.low = UINT64_MAX, .high = UINT64_MAX};
    stack->alloc = (struct store_counts){.objects_q16 = 5 << 16, .bytes = 500, .samples = 5};
    stack->inuse = (struct store_counts){.objects_q16 = 2 << 16, .bytes = 200, .samples = 2};
    stack->born = huge;
    stack->lifetimes = (struct store_lifetimes){.sum = huge,
                                                .shortest = UINT64_MAX,
                                                .longest = UINT64_MAX,
                                                .temporary_q16 = UINT64_MAX / 4,
                                                .foreign_q16 = UINT64_MAX};
    stack->alloc_variance = (struct store_variance){huge, huge};
    struct profile *profile = read_slot_with_ticks(slot);
    const struct profile_sample_extra *extra = &profile->samples[0]->extra;
    assert_true(extra->alloc_space_variance == 250000);
    assert_true(extra->alloc_objects_variance == 25);
    assert_true(extra->lifetime_sum == 3 * 2000);
    assert_int_equal(extra->lifetime_max, INT64_MAX);
    assert_true(extra->temporary_objects == 3);
    assert_true(extra->foreign_objects == 0);
    assert_true(extra->age_sum == 0);
    profile_free(profile);
}

static const char *name_of_thread(void *context, uint32_t index, const struct store_thread *thread)
{
    (void)context;
    return index == 0 && thread->tid == 42 ? "worker" : NULL;
}

static void label_nodes_become_labels(void **state)
{
    struct slot *slot = *state;
    struct store_thread *threads = (void *)(slot->bytes + geometry.threads_offset);
    threads[0].tid = 42;
    threads[1].tid = 43;
    slot->header->thread_count = 2;
    uint32_t roots[] = {add_node(slot, 0, STORE_FRAME_THREAD | 0),
                        add_node(slot, 0, STORE_FRAME_THREAD | 1),
                        add_node(slot, 0, STORE_FRAME_THREAD | 2)}; /* no such thread */
    for (int i = 0; i < 3; i++) {
        uint32_t frame = add_node(slot, roots[i], TEXT_START + 16);
        add_stack(slot, add_node(slot, frame, STORE_FRAME_SIZE | 7), 100);
    }
    struct store_snapshot snapshot;
    struct error error;
    assert_true(store_snapshot_read(&snapshot, slot->fd, 0, SLOT_BYTES, &error));
    struct profile *profile = store_profile(
        &snapshot,
        &(struct store_image){
            .executable = "", .command_line = "", .rate = 10, .thread_name = name_of_thread},
        &totals);
    store_snapshot_free(&snapshot);
    assert_int_equal(profile->sample_count, 3);
    static const char *const names[] = {"worker", ""};
    for (size_t i = 0; i < 3; i++) {
        const struct profile_sample *sample = profile->samples[i];
        assert_int_equal(sample->location_count, 1);
        assert_int_equal(sample->label_count, i < 2 ? 3 : 1);
        assert_string_equal(sample->labels[0].key, "bytes");
        assert_int_equal(sample->labels[0].num, 128);
        if (i == 2)
            continue;
        assert_string_equal(sample->labels[1].key, "thread");
        assert_string_equal(sample->labels[1].str, names[i]);
        assert_string_equal(sample->labels[2].key, "tid");
        assert_int_equal(sample->labels[2].num, 42 + (int64_t)i);
    }
    profile_free(profile);
}

int main(void)
{
#define IN_SLOT(test) cmocka_unit_test_setup_teardown(test, slot_open, slot_close)
    const struct CMUnitTest tests[] = {
        IN_SLOT(lifetimes_and_ages_become_nanoseconds),
        IN_SLOT(sums_stay_within_what_the_others_allow),
        IN_SLOT(label_nodes_become_labels),
        IN_SLOT(values_times_and_comments_are_taken_over),
        IN_SLOT(the_peak_is_what_was_saved_in_its_epoch),
        IN_SLOT(pseudo_frames_become_named_functions),
        IN_SLOT(addresses_find_their_modules),
        IN_SLOT(of_overlapping_modules_the_last_one_counts),
        IN_SLOT(cycles_and_wild_indices_end),
        IN_SLOT(sums_below_zero_and_too_large_are_held),
        IN_SLOT(counts_beyond_the_capacity_are_clamped),
        IN_SLOT(an_unused_slot_is_an_empty_profile),
        IN_SLOT(an_overwritten_header_is_an_error),
        IN_SLOT(random_slots_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
