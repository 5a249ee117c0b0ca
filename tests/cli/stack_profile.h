/* stack_profile.h: profiles made from stacks written as text, for the tests of reports.
 *
 * stack_profile_add(profile, "main;run/step;malloc", values) adds a sample with main as the root;
 * step was inlined into run. A frame that begins with '@' has no name: "@0x1234" is an address of
 * the profile's first mapping, or of none where there is none. */
#ifndef HEAPPROF_TESTS_CLI_STACK_PROFILE_H
#define HEAPPROF_TESTS_CLI_STACK_PROFILE_H

#include "proto/profile.h"

#include <stdlib.h>
#include <string.h>

#define STACK_PROFILE_DEPTH 64

/* An empty profile whose one sample type is type, in unit. */
static inline struct profile *stack_profile_new(const char *type, const char *unit)
{
    struct profile *profile = profile_new();
    profile_add_sample_type(profile, type, unit);
    return profile;
}

static inline struct profile_location *stack_profile_place(struct profile *profile,
                                                           const char *frame)
{
    struct profile_mapping *mapping = profile->mapping_count > 0 ? profile->mappings[0] : NULL;
    return profile_location(profile, mapping, strtoull(frame + 1, NULL, 0));
}

/* The location of "run/step": lines step, run. Each spelling is one location. */
static inline struct profile_location *stack_profile_frame(struct profile *profile, char *frame)
{
    struct profile_line lines[STACK_PROFILE_DEPTH];
    uint32_t count = 0;
    uint64_t address = 0x400000;
    char *rest = NULL;
    if (frame[0] == '@')
        return stack_profile_place(profile, frame);
    for (const char *letter = frame; *letter != '\0'; letter++)
        address = address * 31 + (unsigned char)*letter;
    for (char *name = strtok_r(frame, "/", &rest); name != NULL; name = strtok_r(NULL, "/", &rest))
        lines[STACK_PROFILE_DEPTH - ++count] = (struct profile_line){
            .function = profile_function(profile, name, name, "/src/all.c", 1), .line = 7};
    struct profile_location *location = profile_location(profile, NULL, address);
    profile_set_lines(profile, location, lines + STACK_PROFILE_DEPTH - count, count);
    return location;
}

/* "" is a stack without frames. values as many as there are sample types. */
static inline struct profile_sample *stack_profile_add(struct profile *profile, const char *stack,
                                                       const int64_t *values)
{
    struct profile_location *locations[STACK_PROFILE_DEPTH];
    uint32_t count = 0;
    char *rest = NULL;
    char *text = strdup(stack);
    for (char *frame = strtok_r(text, ";", &rest); frame != NULL;
         frame = strtok_r(NULL, ";", &rest))
        locations[STACK_PROFILE_DEPTH - ++count] = stack_profile_frame(profile, frame);
    free(text);
    return profile_add_sample(profile, locations + STACK_PROFILE_DEPTH - count, count, values);
}

#endif
