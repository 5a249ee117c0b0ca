/* flame_layout_test.c: merging stacks into a tree, choosing the frames to draw, placing them. */
#include "cli/flame_layout.h"

#include "cli/flame_tree.h"
#include "proto/error.h"
#include "proto/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static const struct flame_limits everything = {.order = FLAME_ORDER_VALUE};

static struct profile *new_profile(void)
{
    struct profile *profile = profile_new();
    profile_add_sample_type(profile, "inuse_space", "bytes");
    return profile;
}

/* The location of a function, made when it is new. */
static struct profile_location *location(struct profile *profile, const char *name)
{
    struct profile_function *function = profile_function(profile, name, "", "", 0);
    struct profile_location *place = profile_location(profile, NULL, 0x1000 + function->index);
    const struct profile_line line = {.function = function};
    profile_set_lines(profile, place, &line, 1);
    return place;
}

/* Adds one sample; stack is "root;caller;leaf". */
static void add(struct profile *profile, const char *stack, int64_t value)
{
    struct profile_location *locations[64];
    char copy[256];
    uint32_t count = 0;
    size_t end = strlen(stack);
    memcpy(copy, stack, end + 1);
    while (end > 0) {
        copy[end] = '\0';
        while (end > 0 && copy[end - 1] != ';')
            end--;
        locations[count++] = location(profile, copy + end);
        if (end > 0)
            end--;
    }
    profile_add_sample(profile, locations, count, &value);
}

struct picture {
    struct flame_tree tree;
    struct flame_layout layout;
};

static void draw(struct picture *picture, const struct profile *profile,
                 const struct flame_limits *limits)
{
    struct error error = {0};
    assert_true(flame_tree_init(&picture->tree, profile, 0, NULL, NULL, &error));
    flame_layout_init(&picture->layout, &picture->tree, limits);
}

static void forget(struct picture *picture, struct profile *profile)
{
    flame_layout_done(&picture->layout);
    flame_tree_done(&picture->tree);
    profile_free(profile);
}

static const char *name_of(const struct picture *picture, size_t frame)
{
    return flame_tree_name(&picture->tree,
                           &picture->tree.nodes[picture->layout.frames[frame].node]);
}

static void assert_frame(const struct picture *picture, size_t frame, const char *name,
                         uint64_t start, uint64_t width, uint32_t depth, uint32_t parent)
{
    const struct flame_frame *f = &picture->layout.frames[frame];
    assert_true(frame < picture->layout.frame_count);
    assert_string_equal(name_of(picture, frame), name);
    assert_int_equal(f->start, start);
    assert_int_equal(f->width, width);
    assert_int_equal(f->depth, depth);
    assert_int_equal(f->parent, parent);
}

static void frames_lie_in_preorder_over_their_callers(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    struct picture picture;
    add(profile, "main;b;x", 30);
    add(profile, "main;c", 50);
    add(profile, "main", 5);
    add(profile, "start", 10);
    add(profile, "main;b;y", 5);
    add(profile, "main;b;x", 3);
    draw(&picture, profile, &everything);
    assert_int_equal(picture.layout.frame_count, 7);
    assert_int_equal(picture.layout.total, 103);
    assert_int_equal(picture.layout.row_count, 4);
    assert_frame(&picture, 0, "all", 0, 103, 0, 0);
    assert_frame(&picture, 1, "main", 0, 93, 1, 0);
    assert_frame(&picture, 2, "c", 0, 50, 2, 1);
    assert_frame(&picture, 3, "b", 50, 38, 2, 1);
    assert_frame(&picture, 4, "x", 50, 33, 3, 3);
    assert_frame(&picture, 5, "y", 83, 5, 3, 3);
    assert_frame(&picture, 6, "start", 93, 10, 1, 0);
    assert_int_equal(picture.tree.nodes[picture.layout.frames[1].node].self_growth, 5);
    forget(&picture, profile);
}

static void the_order_of_the_file_does_not_matter(void **state)
{
    (void)state;
    static const struct {
        const char *stack;
        int64_t value;
    } samples[] = {{"a;b", 7}, {"b;a", 7}, {"a;c", 7}, {"c", 9}, {"a;b;c", 1}};
    struct picture pictures[2];
    struct profile *profiles[2];
    for (size_t way = 0; way < 2; way++) {
        profiles[way] = new_profile();
        for (size_t i = 0; i < LENGTH(samples); i++) {
            size_t at = way == 0 ? i : LENGTH(samples) - 1 - i;
            add(profiles[way], samples[at].stack, samples[at].value);
        }
        draw(&pictures[way], profiles[way], &everything);
    }
    assert_int_equal(pictures[0].layout.frame_count, pictures[1].layout.frame_count);
    for (size_t i = 0; i < pictures[0].layout.frame_count; i++) {
        const struct flame_frame *f = &pictures[1].layout.frames[i];
        assert_frame(&pictures[0], i, name_of(&pictures[1], i), f->start, f->width, f->depth,
                     f->parent);
    }
    forget(&pictures[0], profiles[0]);
    forget(&pictures[1], profiles[1]);
}

static void siblings_can_stand_by_name(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    struct picture picture;
    add(profile, "b", 1);
    add(profile, "c", 9);
    add(profile, "a", 5);
    draw(&picture, profile, &(struct flame_limits){.order = FLAME_ORDER_NAME});
    assert_frame(&picture, 1, "a", 0, 5, 1, 0);
    assert_frame(&picture, 2, "b", 5, 1, 1, 0);
    assert_frame(&picture, 3, "c", 6, 9, 1, 0);
    forget(&picture, profile);
}

static void inlined_functions_are_frames_outermost_first(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    struct picture picture;
    struct profile_location *place = profile_location(profile, NULL, 0x77);
    struct profile_line lines[] = {{.function = profile_function(profile, "inner", "", "", 0)},
                                   {.function = profile_function(profile, "outer", "", "", 0)}};
    profile_set_lines(profile, place, lines, 2);
    profile_add_sample(profile, &place, 1, &(int64_t){4});
    draw(&picture, profile, &everything);
    assert_int_equal(picture.layout.frame_count, 3);
    assert_frame(&picture, 1, "outer", 0, 4, 1, 0);
    assert_frame(&picture, 2, "inner", 0, 4, 2, 1);
    forget(&picture, profile);
}

static void functions_of_one_name_are_one_frame(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    struct picture picture;
    for (uint64_t i = 0; i < 2; i++) {
        struct profile_function *function =
            profile_function(profile, "same", "", i == 0 ? "a.c" : "b.c", 0);
        struct profile_location *place = profile_location(profile, NULL, 0x10 + i);
        profile_set_lines(profile, place, &(struct profile_line){.function = function}, 1);
        profile_add_sample(profile, &place, 1, &(int64_t){5});
    }
    draw(&picture, profile, &everything);
    assert_int_equal(picture.layout.frame_count, 2);
    assert_frame(&picture, 1, "same", 0, 10, 1, 0);
    forget(&picture, profile);
}

static void code_without_a_name_is_called_by_its_place(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    struct picture picture;
    const struct profile_mapping mapping = {.memory_start = 0x5000,
                                            .memory_limit = 0x9000,
                                            .file_offset = 0x1000,
                                            .filename = "/lib/libfoo.so",
                                            .build_id = ""};
    struct profile_location *places[] = {
        profile_location(profile, profile_add_mapping(profile, &mapping), 0x5234),
        profile_location(profile, NULL, 0xabcd)};
    profile_add_sample(profile, places, 2, &(int64_t){1});
    draw(&picture, profile, &everything);
    assert_frame(&picture, 1, "0xabcd", 0, 1, 1, 0);
    assert_frame(&picture, 2, "libfoo.so+0x1234", 0, 1, 2, 1);
    forget(&picture, profile);
}

static void a_function_called_all_is_not_the_root(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    struct picture picture;
    add(profile, "all;all", 3);
    draw(&picture, profile, &everything);
    assert_int_equal(picture.layout.frame_count, 3);
    assert_frame(&picture, 2, "all", 0, 3, 2, 1);
    forget(&picture, profile);
}

static void an_empty_profile_has_the_root_alone(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    struct picture picture;
    add(profile, "main", 0);
    draw(&picture, profile, &(struct flame_limits){.min_width = 0.5, .max_frames = 3});
    assert_int_equal(picture.layout.frame_count, 1);
    assert_int_equal(picture.layout.total, 0);
    assert_int_equal(picture.layout.row_count, 1);
    forget(&picture, profile);
}

static void narrow_frames_are_left_out_and_counted(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    struct picture picture;
    add(profile, "main;wide;leaf", 900);
    add(profile, "main;narrow;leaf", 60);
    add(profile, "main;wide;thin", 40);
    draw(&picture, profile, &(struct flame_limits){.min_width = 0.07});
    assert_int_equal(picture.layout.narrowest, 70);
    assert_int_equal(picture.layout.frame_count, 4);
    assert_int_equal(picture.layout.narrow_count, 3);
    assert_int_equal(picture.layout.narrow_width, 100);
    assert_frame(&picture, 2, "wide", 0, 940, 2, 1);
    assert_frame(&picture, 3, "leaf", 0, 900, 3, 2);
    forget(&picture, profile);
}

/* 1 + 5000 frames, the sum of 1 to 5000 is 12,502,500. */
static void too_many_frames_raise_the_limit(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    struct picture picture;
    for (int64_t i = 1; i <= 5000; i++) {
        char name[32];
        snprintf(name, sizeof name, "f%d", (int)i);
        add(profile, name, i);
    }
    draw(&picture, profile, &(struct flame_limits){.max_frames = 100});
    assert_int_equal(picture.layout.frame_count, 100);
    assert_frame(&picture, 1, "f5000", 0, 5000, 1, 0);
    assert_int_equal(picture.layout.frames[99].width, 4902);
    assert_int_equal(picture.layout.narrow_count, 4901);
    forget(&picture, profile);
}

static void frames_of_a_thousandth_are_drawn_whatever_their_number(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    struct picture picture;
    for (int i = 0; i < 1000; i++) {
        char name[32];
        snprintf(name, sizeof name, "f%d", i);
        add(profile, name, 10);
    }
    draw(&picture, profile, &(struct flame_limits){.max_frames = 20});
    assert_int_equal(picture.layout.frame_count, 1001);
    forget(&picture, profile);
}

static void deep_stacks_are_cut_and_counted(void **state)
{
    (void)state;
    static struct profile_location *locations[FLAME_MAX_DEPTH + 500];
    struct profile *profile = new_profile();
    struct picture picture;
    for (size_t i = 0; i < LENGTH(locations); i++)
        locations[i] = location(profile, "recursive");
    profile_add_sample(profile, locations, LENGTH(locations), &(int64_t){3});
    draw(&picture, profile, &(struct flame_limits){.max_frames = 10});
    assert_int_equal(picture.layout.frame_count, FLAME_MAX_DEPTH);
    assert_int_equal(picture.layout.row_count, FLAME_MAX_DEPTH);
    assert_int_equal(picture.layout.deep_count, 501);
    assert_int_equal(picture.tree.node_count, LENGTH(locations) + 1);
    forget(&picture, profile);
}

static void growth_does_not_hide_what_shrank(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    struct picture picture;
    add(profile, "main;a", 50);
    add(profile, "main;b", -30);
    add(profile, "main;b", -20);
    draw(&picture, profile, &everything);
    assert_int_equal(picture.tree.nodes[0].growth, 50);
    assert_int_equal(picture.tree.nodes[0].shrink, 50);
    assert_frame(&picture, 0, "all", 0, 100, 0, 0);
    assert_frame(&picture, 2, "a", 0, 50, 2, 1);
    assert_frame(&picture, 3, "b", 50, 50, 2, 1);
    forget(&picture, profile);
}

static void values_beyond_64_bits_are_an_error(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    struct flame_tree tree;
    struct error error = {0};
    add(profile, "a", INT64_MIN);
    add(profile, "b", INT64_MAX);
    assert_true(flame_tree_init(&tree, profile, 0, NULL, NULL, &error));
    assert_true(flame_node_width(&tree.nodes[0]) == UINT64_MAX);
    flame_tree_done(&tree);
    add(profile, "c", 1);
    assert_false(flame_tree_init(&tree, profile, 0, NULL, NULL, &error));
    assert_non_null(strstr(error.text, "64 bits"));
    profile_free(profile);
}

/* Whatever the limits: children lie inside their parents, side by side, and follow them. */
static void every_layout_is_a_tree(void **state)
{
    (void)state;
    struct profile *profile = new_profile();
    uint32_t random = 1;
    for (int i = 0; i < 3000; i++) {
        struct profile_location *stack[20];
        uint32_t count = 0;
        do {
            char name[8];
            random = random * 1664525 + 1013904223;
            snprintf(name, sizeof name, "f%u", random >> 24 & 7);
            stack[count++] = location(profile, name);
        } while (count < LENGTH(stack) && (random >> 16 & 15) != 0);
        profile_add_sample(profile, stack, count, &(int64_t){random >> 20});
    }
    for (uint64_t most = 1; most < 3000; most *= 3) {
        struct picture picture;
        draw(&picture, profile, &(struct flame_limits){.max_frames = most, .min_width = 1e-5});
        const struct flame_frame *frames = picture.layout.frames;
        for (size_t i = 1; i < picture.layout.frame_count; i++) {
            const struct flame_frame *parent = &frames[frames[i].parent];
            assert_true(frames[i].parent < i);
            assert_int_equal(frames[i].depth, parent->depth + 1);
            assert_true(frames[i].start >= parent->start);
            assert_true(frames[i].start + frames[i].width <= parent->start + parent->width);
            assert_true(frames[i].width >= picture.layout.narrowest);
            /* The frame before is the parent, or ends a subtree left of this one. */
            assert_true(i - 1 == frames[i].parent ||
                        frames[i - 1].start + frames[i - 1].width <= frames[i].start);
        }
        flame_layout_done(&picture.layout);
        flame_tree_done(&picture.tree);
    }
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_lie_in_preorder_over_their_callers),
        cmocka_unit_test(the_order_of_the_file_does_not_matter),
        cmocka_unit_test(siblings_can_stand_by_name),
        cmocka_unit_test(inlined_functions_are_frames_outermost_first),
        cmocka_unit_test(functions_of_one_name_are_one_frame),
        cmocka_unit_test(code_without_a_name_is_called_by_its_place),
        cmocka_unit_test(a_function_called_all_is_not_the_root),
        cmocka_unit_test(an_empty_profile_has_the_root_alone),
        cmocka_unit_test(narrow_frames_are_left_out_and_counted),
        cmocka_unit_test(too_many_frames_raise_the_limit),
        cmocka_unit_test(frames_of_a_thousandth_are_drawn_whatever_their_number),
        cmocka_unit_test(deep_stacks_are_cut_and_counted),
        cmocka_unit_test(growth_does_not_hide_what_shrank),
        cmocka_unit_test(values_beyond_64_bits_are_an_error),
        cmocka_unit_test(every_layout_is_a_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
