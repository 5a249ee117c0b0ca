/* flame_svg.h: a profile as a flamegraph: one SVG file that needs nothing else.
 *
 * The picture is whole without scripts (labels cut to fit, name, value and share in each frame's
 * <title>); with them it zooms, searches and follows the width of the window. */
#ifndef HEAPPROF_CLI_FLAME_SVG_H
#define HEAPPROF_CLI_FLAME_SVG_H

#include "cli/flame_layout.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct error;
struct profile;

#define FLAME_LEAST_WIDTH 200u
#define FLAME_MOST_WIDTH 100000u

struct flame_options {
    const char *title; /* any bytes; NULL for the name of the profiled program */
    uint32_t width;    /* in pixels, FLAME_LEAST_WIDTH to FLAME_MOST_WIDTH; 0: as the window */
    bool inverted;     /* the root on top (icicles) rather than at the bottom (flames) */
    struct flame_limits limits;
    /* Called now and then with samples done and in all; NULL for none. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};

/* What `heapprof flame` does without options. */
struct flame_options flame_options_default(void);

/* Writes profile's values of sample type type_index (valid in profile) to stream, which is flushed
 * but not closed. A profile without samples gives a picture that says so. In a profile with
 * negative values (a difference) a frame is as wide as what grew and what shrank in it together,
 * and its colour and <title> give the balance. False with *error filled when the stream has an
 * error or the values do not fit 64 bits (then nothing was written). */
bool flame_svg_write(const struct profile *profile, int type_index,
                     const struct flame_options *options, FILE *stream, struct error *error);

#endif
