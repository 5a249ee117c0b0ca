/* frame_filter.c: which frames of a profile a report shows (drop_frames and keep_frames).
 *
 * Patterns are tried once per function, and their outcome kept per location; what is left to do per
 * sample is a walk over its locations. Source: google/pprof profile/prune.go. */
#include "cli/frame_filter.h"

#include "cli/frame_names.h"
#include "cli/pattern.h"
#include "proto/arena.h"
#include "proto/profile.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct frame_filter {
    uint32_t *first_line; /* by location index; NULL when nothing is dropped */
};

struct patterns {
    struct pattern *drop;
    struct pattern *keep; /* NULL when there is none */
};

/* A pattern that must match the whole name; NULL when text is not valid. */
static struct pattern *whole_pattern(const char *text)
{
    size_t size = strlen(text) + sizeof("^()$");
    char *whole = heap_alloc(size);
    snprintf(whole, size, "^(%s)$", text);
    struct pattern *pattern = pattern_new(whole);
    free(whole);
    return pattern;
}

/* False when there is nothing to drop, or one of the patterns is not valid. */
static bool patterns_init(struct patterns *patterns, const struct profile *profile)
{
    *patterns = (struct patterns){0};
    if (profile->drop_frames[0] == '\0')
        return false;
    patterns->drop = whole_pattern(profile->drop_frames);
    if (profile->keep_frames[0] != '\0')
        patterns->keep = whole_pattern(profile->keep_frames);
    return patterns->drop != NULL && (profile->keep_frames[0] == '\0' || patterns->keep != NULL);
}

static void patterns_done(struct patterns *patterns)
{
    pattern_free(patterns->drop);
    pattern_free(patterns->keep);
}

/* Length of a C++ name at text whose parentheses do not begin a parameter list; 0 for none. */
static size_t reserved_length(const char *text)
{
    static const char *const reserved[] = {"(anonymous namespace)", "operator()"};
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++) {
        size_t length = strlen(reserved[i]);
        if (strncmp(text, reserved[i], length) == 0)
            return length;
    }
    return 0;
}

/* Length of what patterns are matched on: name without a parameter list. */
static size_t bare_length(const char *name)
{
    size_t at = 0;
    while (name[at] != '\0') {
        size_t reserved = reserved_length(name + at);
        if (reserved == 0 && name[at] == '(')
            break;
        at += reserved > 0 ? reserved : 1;
    }
    return at;
}

static bool is_dropped(const struct patterns *patterns, const char *name)
{
    if (name[0] == '\0')
        return false;
    if (name[0] == '.') /* function descriptors of the PowerPC ELF ABI */
        name++;
    size_t length = bare_length(name);
    char *bare = heap_alloc(length + 1);
    memcpy(bare, name, length);
    bare[length] = '\0';
    bool dropped = pattern_matches(patterns->drop, bare) &&
                   (patterns->keep == NULL || !pattern_matches(patterns->keep, bare));
    free(bare);
    return dropped;
}

/* By function index, whether drop_frames names it. */
static bool *find_dropped(const struct profile *profile, const struct frame_names *names,
                          const struct patterns *patterns)
{
    bool *dropped = heap_alloc(profile->function_count + sizeof(*dropped));
    for (uint32_t i = 0; i < profile->function_count; i++)
        dropped[i] = is_dropped(patterns, frame_names_of(names, profile->functions[i]));
    return dropped;
}

/* One past the outermost line that is dropped: it takes all within it along. */
static uint32_t find_first_line(const struct profile_location *location, const bool *dropped)
{
    uint32_t line = location->line_count;
    for (; line > 0; line--) {
        const struct profile_function *function = location->lines[line - 1].function;
        if (function != NULL && dropped[function->index])
            break;
    }
    return line;
}

struct frame_filter *frame_filter_new(const struct profile *profile,
                                      const struct frame_names *names)
{
    struct frame_filter *filter = heap_alloc(sizeof(*filter));
    struct patterns patterns;
    filter->first_line = NULL;
    if (patterns_init(&patterns, profile)) {
        bool *dropped = find_dropped(profile, names, &patterns);
        filter->first_line = heap_alloc((profile->location_count + 1u) * sizeof(uint32_t));
        for (uint32_t i = 0; i < profile->location_count; i++)
            filter->first_line[i] = find_first_line(profile->locations[i], dropped);
        free(dropped);
    }
    patterns_done(&patterns);
    return filter;
}

void frame_filter_free(struct frame_filter *filter)
{
    if (filter == NULL)
        return;
    free(filter->first_line);
    free(filter);
}

uint32_t frame_filter_first_line(const struct frame_filter *filter,
                                 const struct profile_location *location)
{
    if (filter->first_line == NULL)
        return 0;
    /* A location that is wholly dropped is only asked for where it stands at the root. */
    uint32_t line = filter->first_line[location->index];
    return line < location->line_count ? line : 0;
}

uint32_t frame_filter_first_location(const struct frame_filter *filter,
                                     const struct profile_sample *sample)
{
    if (filter->first_line == NULL)
        return 0;
    bool seen_other = false;
    for (uint32_t i = sample->location_count; i > 0; i--) {
        const struct profile_location *location = sample->locations[i - 1];
        uint32_t first_line = filter->first_line[location->index];
        if (first_line == 0)
            seen_other = true;
        else if (seen_other)
            /* Wholly dropped: gone. Else it stays, without what was inlined into it. */
            return first_line == location->line_count ? i : i - 1;
    }
    return 0;
}
