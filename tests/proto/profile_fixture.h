/* profile_fixture.h: a small profile that uses everything the model has. For the tests of the
 * reader and the writer; each value occurs once, so that a mix-up shows. */
#ifndef HEAPPROF_TESTS_PROTO_PROFILE_FIXTURE_H
#define HEAPPROF_TESTS_PROTO_PROFILE_FIXTURE_H

#include "proto/profile.h"

static inline void fixture_sample_types(struct profile *profile)
{
    profile_add_sample_type(profile, "alloc_objects", "count");
    profile_add_sample_type(profile, "alloc_space", "bytes");
    profile_add_sample_type(profile, "inuse_objects", "count");
    profile_add_sample_type(profile, "inuse_space", "bytes");
    profile_add_sample_type(profile, "peak_objects", "count");
    profile_add_sample_type(profile, "peak_space", "bytes");
}

static inline void fixture_head(struct profile *profile)
{
    profile_add_comment(profile, "heapprof 1.2.3");
    profile_add_comment(profile, "#losses 0");
    profile->time_nanos = 1700000000123456789;
    profile->duration_nanos = 1500000000;
    profile->period_type.type = profile_intern(profile, "space");
    profile->period_type.unit = profile_intern(profile, "bytes");
    profile->period = 524288;
    profile->default_sample_type = profile_intern(profile, "inuse_space");
    profile->drop_frames = profile_intern(profile, "operator new");
    profile->keep_frames = profile_intern(profile, "keep_me");
}

static inline void fixture_locations(struct profile *profile, struct profile_location *stack[3])
{
    struct profile_mapping program = {.memory_start = 0x400000,
                                      .memory_limit = 0x500000,
                                      .file_offset = 0x1000,
                                      .filename = "/usr/bin/app with space",
                                      .build_id = "0123456789abcdef",
                                      .has_functions = true,
                                      .has_line_numbers = true};
    struct profile_mapping library = {.memory_start = 0x7f0000000000,
                                      .memory_limit = 0x7f0000100000,
                                      .filename = "/lib/libfoo.so",
                                      .has_filenames = true,
                                      .has_inline_frames = true};
    struct profile_mapping *first = profile_add_mapping(profile, &program);
    struct profile_mapping *second = profile_add_mapping(profile, &library);
    struct profile_line inlined[] = {
        {.function = profile_function(profile, "inner", "_ZN5innerEv", "/src/inner.h", 11),
         .line = 12,
         .column = 13},
        {.function = profile_function(profile, "outer", "_Z5outerv", "/src/outer.cc", 21),
         .line = 22},
    };
    struct profile_line mainly[] = {
        {.function = profile_function(profile, "caf\xc3\xa9<main>", "main", "/src/main.c", 31),
         .line = 32},
    };
    stack[0] = profile_location(profile, first, 0x401234);
    profile_set_lines(profile, stack[0], inlined, 2);
    stack[1] = profile_location(profile, second, 0x7f0000000567);
    stack[1]->is_folded = true;
    stack[2] = profile_location(profile, NULL, 0);
    profile_set_lines(profile, stack[2], mainly, 1);
}

static inline void fixture_samples(struct profile *profile, struct profile_location *stack[3])
{
    static const int64_t values[][6] = {
        {10, 1000, 4, 400, 7, 700},
        {INT64_MAX, -5, 0, INT64_MIN, 1, 1},
        {0, 0, 0, 0, 0, 0},
        {2, 20, 1, 10, 2, 20},
    };
    static const struct profile_label labels[] = {
        {.key = "thread", .str = "worker;\"1\""},
        {.key = "bytes", .num = 96, .num_unit = "bytes"},
        {.key = "tid", .num = -7},
    };
    struct profile_sample *sample = profile_add_sample(profile, stack, 3, values[0]);
    for (size_t i = 0; i < 3; i++)
        profile_add_label(profile, sample, &labels[i]);
    sample->extra = (struct profile_sample_extra){.alloc_space_variance = 1.5,
                                                  .inuse_space_variance = 2e15,
                                                  .peak_space_variance = 3.25,
                                                  .alloc_samples = 5,
                                                  .inuse_samples = 6,
                                                  .peak_samples = 8,
                                                  .alloc_objects_variance = 0.5,
                                                  .inuse_objects_variance = 0.25,
                                                  .peak_objects_variance = 1e30,
                                                  .freed_objects = 6.5,
                                                  .lifetime_sum = 1e18,
                                                  .lifetime_min = 1,
                                                  .lifetime_max = INT64_MAX,
                                                  .temporary_objects = 2.5,
                                                  .foreign_objects = 3.5,
                                                  .age_sum = 4e17,
                                                  .live_objects = 0.75};
    profile_add_sample(profile, stack + 1, 2, values[1]);
    profile_add_sample(profile, stack, 1, values[2]); /* all zero: never written */
    profile_add_sample(profile, stack, 0, values[3]); /* no stack */
}

static inline struct profile *fixture_profile(void)
{
    struct profile *profile = profile_new();
    struct profile_location *stack[3];
    fixture_sample_types(profile);
    fixture_head(profile);
    fixture_locations(profile, stack);
    fixture_samples(profile, stack);
    return profile;
}

#endif
