/* symbolize.c: goes through a profile's locations, file by file and in the order of addresses.
 *
 * Sorting puts locations of one file together, so that one file is open at a time, and addresses of
 * one compile unit together; an address that occurs twice is looked up once. The answer is written
 * into the profile at once: a caller that runs this in a child process and loses the child runs it
 * again with no_dwarf, which uses nothing but our own bounded readers. */
#include "symbolize/symbolize.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/arena.h"
#include "proto/profile.h"
#include "symbolize/debug_file.h"
#include "symbolize/demangle.h"
#include "symbolize/module.h"
#include "symbolize/plain_name.h"

#define PROGRESS_EVERY 256u

struct job {
    struct profile *profile;
    const struct symbolize_options *options;
    struct symbolize_stats stats;
    struct profile_location **locations;  /* those to be named, sorted */
    struct module *module;                /* of the mapping at hand */
    const struct profile_mapping *opened; /* whose file module is */
};

/* --- which locations, in which order ------------------------------------------------------ */

/* Same file: same build id and name (strings are interned, but need not be by every writer). */
static int compare_files(const struct profile_mapping *a, const struct profile_mapping *b)
{
    int names = strcmp(a->filename, b->filename);
    return names != 0 ? names : strcmp(a->build_id, b->build_id);
}

static int compare_locations(const void *left, const void *right)
{
    const struct profile_location *a = *(struct profile_location *const *)left;
    const struct profile_location *b = *(struct profile_location *const *)right;
    if (a->mapping != b->mapping) {
        if (!a->mapping || !b->mapping)
            return a->mapping ? 1 : -1;
        int files = compare_files(a->mapping, b->mapping);
        return files != 0 ? files : (a->mapping->index < b->mapping->index ? -1 : 1);
    }
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void collect_locations(struct job *job)
{
    const struct profile *profile = job->profile;
    job->locations = heap_alloc(profile->location_count * sizeof(*job->locations) + 1);
    for (uint32_t i = 0; i < profile->location_count; i++) {
        struct profile_location *location = profile->locations[i];
        if (location->line_count == 0 && location->address != 0)
            job->locations[job->stats.locations++] = location;
    }
    if (job->stats.locations > 1)
        qsort(job->locations, job->stats.locations, sizeof(*job->locations), compare_locations);
}

/* --- naming one location ------------------------------------------------------------------ */

static void open_module(struct job *job, const struct profile_mapping *mapping)
{
    const struct symbolize_options *options = job->options;
    struct module_options module_options = {.debug_root = DEBUG_FILE_ROOT};
    if (job->opened && compare_files(job->opened, mapping) == 0)
        return;
    module_close(job->module);
    if (options) {
        module_options.no_dwarf = options->no_dwarf;
        module_options.proof_needed = options->open_mapping;
        if (options->debug_root)
            module_options.debug_root = options->debug_root;
    }
    int descriptor = -1;
    if (options && options->open_mapping)
        descriptor = options->open_mapping(options->context, mapping);
    job->module = module_open(mapping, descriptor, &module_options);
    job->opened = mapping;
}

/* The file's name without its directory and without the kernel's " (deleted)". */
static void write_base_name(const char *path, char *text, size_t size)
{
    static const char deleted[] = " (deleted)";
    const char *slash = strrchr(path, '/');
    snprintf(text, size, "%s", slash ? slash + 1 : path);
    size_t length = strlen(text), tail = sizeof(deleted) - 1;
    if (length > tail && strcmp(text + length - tail, deleted) == 0)
        text[length - tail] = '\0';
}

static bool is_pseudo_file(const char *filename)
{
    return filename[0] == '[' && strcmp(filename, "[vdso]") != 0;
}

/* A location that has no name is called after its file and virtual address, or its address. */
static void name_unknown(struct job *job, struct profile_location *location, bool has_address,
                         uint64_t virtual_address)
{
    char text[512], base[400];
    const struct profile_mapping *mapping = location->mapping;
    if (mapping && is_pseudo_file(mapping->filename)) {
        snprintf(text, sizeof(text), "%s", mapping->filename);
    } else if (mapping && mapping->filename[0] != '\0' && has_address) {
        write_base_name(mapping->filename, base, sizeof(base));
        snprintf(text, sizeof(text), "%s+0x%" PRIx64, base, virtual_address);
    } else {
        snprintf(text, sizeof(text), "0x%" PRIx64, location->address);
    }
    struct profile_line line = {.function = profile_function(job->profile, text, text, "", 0)};
    profile_set_lines(job->profile, location, &line, 1);
}

static struct profile_line line_of_frame(struct job *job, const struct module_frame *frame)
{
    char *name = frame->is_plain ? plain_name_simple(frame->system_name)
                                 : demangle_simple(frame->system_name);
    struct profile_line line = {
        .function = profile_function(job->profile, name, frame->system_name, frame->file,
                                     frame->start_line),
        .line = frame->line,
        .column = frame->column,
    };
    free(name);
    return line;
}

static void name_known(struct job *job, struct profile_location *location,
                       const struct module_frame *frames, size_t count)
{
    struct profile_line lines[MODULE_FRAMES_MAX];
    struct profile_mapping *mapping = location->mapping;
    for (size_t i = 0; i < count; i++)
        lines[i] = line_of_frame(job, &frames[i]);
    profile_set_lines(job->profile, location, lines, (uint32_t)count);
    job->stats.named++;
    job->stats.with_line += frames[0].line > 0;
    mapping->has_filenames |= frames[0].file[0] != '\0';
    mapping->has_line_numbers |= frames[0].line > 0;
    mapping->has_inline_frames |= count > 1;
}

static void name_location(struct job *job, struct profile_location *location)
{
    struct module_frame frames[MODULE_FRAMES_MAX];
    uint64_t virtual_address = 0;
    size_t count = 0;
    bool has_address = false;
    if (location->mapping) {
        open_module(job, location->mapping);
        has_address =
            module_address(job->module, location->mapping, location->address, &virtual_address);
        if (has_address)
            count = module_find(job->module, virtual_address, frames);
        location->mapping->has_functions = true;
    }
    if (count > 0)
        name_known(job, location, frames, count);
    else
        name_unknown(job, location, has_address, virtual_address);
}

/* The same address again (a file may have it twice): its names are those found before. */
static bool repeat_last(struct job *job, const struct profile_location *last,
                        struct profile_location *location, const struct symbolize_stats *before)
{
    if (!last || last->mapping != location->mapping || last->address != location->address)
        return false;
    profile_set_lines(job->profile, location, last->lines, last->line_count);
    job->stats.named += before->named;
    job->stats.with_line += before->with_line;
    return true;
}

void symbolize_profile(struct profile *profile, const struct symbolize_options *options,
                       struct symbolize_stats *stats)
{
    struct job job = {.profile = profile, .options = options};
    struct symbolize_stats last_gain = {0};
    struct profile_location *last = NULL;
    collect_locations(&job);
    for (uint64_t i = 0; i < job.stats.locations; i++) {
        struct profile_location *location = job.locations[i];
        struct symbolize_stats before = job.stats;
        if (!repeat_last(&job, last, location, &last_gain)) {
            name_location(&job, location);
            last_gain.named = job.stats.named - before.named;
            last_gain.with_line = job.stats.with_line - before.with_line;
            last = location;
        }
        if (options && options->progress && (i + 1) % PROGRESS_EVERY == 0)
            options->progress(options->context, i + 1, job.stats.locations);
    }
    if (options && options->progress && job.stats.locations % PROGRESS_EVERY != 0)
        options->progress(options->context, job.stats.locations, job.stats.locations);
    module_close(job.module);
    free(job.locations);
    if (stats)
        *stats = job.stats;
}
