/* flame.c: heapprof flame, a profile as an SVG flamegraph on standard output or in a file.
 *
 * Reads, draws into the output and commits it: a failure leaves no half-written picture. The
 * drawing itself is flame_svg.c. */
#include "cli/command.h"
#include "cli/flame_svg.h"
#include "cli/option.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/report_input.h"
#include "proto/error.h"
#include "proto/profile.h"

#include <string.h>

struct flame_command_options {
    const char *sample_type;
    const char *output;
    const char *title;
    const char *order;
    uint64_t width;
    uint64_t max_frames;
    double min_width;
    bool inverted;
};

#define TO(field) offsetof(struct flame_command_options, field)

static const char *const orders[] = {"value", "name", NULL};

static const struct option_row flame_rows[] = {
    {0, "sample-type", "NAME", OPTION_TEXT, TO(sample_type),
     "draw {alloc,inuse,peak}_{objects,space} (default: the file's own, peak_space for a run that "
     "has ended)",
     NULL},
    {'o', "output", "FILE", OPTION_TEXT, TO(output),
     "write the picture to FILE (default: standard output)", NULL},
    {0, "title", "TEXT", OPTION_TEXT, TO(title),
     "what to write on top (default: the program's name)", NULL},
    {'i', "inverted", NULL, OPTION_FLAG, TO(inverted),
     "the root on top, callees hanging down (icicles)", NULL},
    {0, "sort", "ORDER", OPTION_CHOICE, TO(order),
     "order of siblings: value (widest first, the default) or name", orders},
    {0, "width", "N", OPTION_NUMBER, TO(width),
     "N pixels wide, fixed (default: as wide as the window)", NULL},
    {0, "min-width", "F", OPTION_FRACTION, TO(min_width),
     "leave out frames below this fraction of the total (default 0.0001)", NULL},
    {0, "max-frames", "N", OPTION_NUMBER, TO(max_frames),
     "leave out the narrowest frames beyond N, of those below 0.1% (default 10000, 0: no limit)",
     NULL},
    {0},
};

/* The drawing options that the command line asks for. */
static bool drawing_options(const struct flame_command_options *given,
                            struct flame_options *drawing, struct error *error)
{
    if (given->width != 0 &&
        (given->width < FLAME_LEAST_WIDTH || given->width > FLAME_MOST_WIDTH)) {
        error_set(error, "--width", "takes %u to %u pixels", FLAME_LEAST_WIDTH, FLAME_MOST_WIDTH);
        return false;
    }
    drawing->title = given->title;
    drawing->width = (uint32_t)given->width;
    drawing->inverted = given->inverted;
    drawing->limits.min_width = given->min_width;
    drawing->limits.max_frames = given->max_frames;
    drawing->limits.order =
        strcmp(given->order, "name") == 0 ? FLAME_ORDER_NAME : FLAME_ORDER_VALUE;
    return true;
}

static void show_progress(void *context, uint64_t done, uint64_t total)
{
    progress_update(context, done, total);
}

/* Draws profile into the file called path, all or nothing. */
static bool draw(const struct profile *profile, int type_index, const struct flame_options *drawing,
                 const char *path, struct error *error)
{
    struct output_file *output = output_open(path, error);
    if (output == NULL)
        return false;
    struct progress progress;
    struct flame_options watched = *drawing;
    watched.progress = show_progress;
    watched.context = &progress;
    progress_start(&progress, "drawing");
    bool drawn = flame_svg_write(profile, type_index, &watched, output_stream(output), error);
    progress_end(&progress);
    if (!drawn) {
        output_discard(output);
        return false;
    }
    return output_commit(output, error);
}

static int flame_run(const struct command *command, int argc, char **argv)
{
    struct error error = {0};
    struct flame_options drawing = flame_options_default();
    struct flame_command_options options = {
        .output = "-",
        .order = "value",
        .min_width = drawing.limits.min_width,
        .max_frames = drawing.limits.max_frames,
    };
    const char *path;
    int type_index, status;
    if (!report_input_arguments(command, argc, argv, &options, &path, &status))
        return status;
    if (!drawing_options(&options, &drawing, &error))
        return command_fail(STATUS_USAGE, &error);
    struct profile *profile = report_input_read(path, options.sample_type, &type_index, &error);
    if (profile == NULL)
        return command_fail(STATUS_FAILED, &error);
    bool drawn = draw(profile, type_index, &drawing, options.output, &error);
    profile_free(profile);
    return drawn ? STATUS_OK : command_fail(STATUS_FAILED, &error);
}

const struct command flame_command = {
    .name = "flame",
    .operands = "FILE",
    .summary = "draw a profile as an SVG flamegraph",
    .details = "Open the picture in a browser: click a frame to zoom (Esc or the browser's back\n"
               "button undoes it), search with Ctrl-F. It needs no network and no other file.\n",
    .rows = flame_rows,
    .run = flame_run,
};
