/* allocator_frames.c: which functions are the allocator and not its user.
 *
 * The dynamic loader inlines small functions named malloc, calloc and so on that call the real
 * ones; Rust's collections reach malloc through the Global allocator and the functions that the
 * compiler makes for it (rust-lang/rust library/alloc/src/alloc.rs). C++'s std::allocator stays: it
 * belongs to the container. */
#include "cli/allocator_frames.h"

#include <stdbool.h>
#include <string.h>

#include "proto/profile.h"

static const char *const names[] = {
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "valloc",
    "pvalloc",
    "__rust_alloc",
    "__rust_alloc_zeroed",
    "__rust_realloc",
    "__rdl_alloc",
    "__rdl_alloc_zeroed",
    "__rdl_realloc",
};

static const char *const prefixes[] = {
    "alloc::alloc::",
    "<alloc::alloc::Global",
    "__rustc::__rust_",
    "__rustc::__rdl_",
    "std::sys::alloc::unix::<impl core::alloc::global::GlobalAlloc for std::alloc::System>",
    "<std::alloc::System as core::alloc::global::GlobalAlloc>",
};

static bool is_allocator(const struct profile_line *line)
{
    const char *name = line->function->name;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* How many lines of the location, innermost first, are the allocator's. */
static uint32_t allocator_lines(const struct profile_location *location)
{
    uint32_t count = 0;
    while (count < location->line_count && is_allocator(&location->lines[count]))
        count++;
    return count;
}

void allocator_frames_trim(struct profile *profile)
{
    for (size_t i = 0; i < profile->sample_count; i++) {
        struct profile_sample *sample = profile->samples[i];
        while (sample->location_count > 0) {
            struct profile_location *leaf = sample->locations[0];
            uint32_t inner = allocator_lines(leaf);
            if (inner == 0)
                break;
            if (inner < leaf->line_count) {
                leaf->lines += inner;
                leaf->line_count -= inner;
                break;
            }
            if (sample->location_count == 1)
                break;
            sample->locations++;
            sample->location_count--;
        }
    }
}
