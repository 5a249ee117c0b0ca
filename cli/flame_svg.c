/* flame_svg.c: a profile as a flamegraph: one SVG file that needs nothing else.
 *
 * Each frame is a nested <svg> with a <title>, a <rect> and perhaps a <text>. Horizontal places are
 * percentages, so the picture follows any width without being written anew, and a nested <svg>
 * clips what it holds, so a label never leaves its frame, scripts or not. The frames stand in
 * preorder: with x, width and y that is all the tree that share/flame.js needs. Style and script go
 * into the binary at build time.
 *
 * Coordinates are integers in 1/1000000 of a percent: exact to a tenth of a pixel when a frame of
 * 0.01 % is zoomed to the whole width, and the same in every locale. */
#include "cli/flame_svg.h"

#include "cli/flame_colour.h"
#include "cli/flame_text.h"
#include "cli/flame_tree.h"
#include "cli/quantity.h"
#include "proto/error.h"
#include "proto/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* All in pixels; flame.js is told ROW and reads the rest from the elements. */
#define NOMINAL_WIDTH 1200u /* of a picture that follows the window, before the script runs */
#define HEADER 84u
#define ROW 17u /* from one row of frames to the next */
#define FRAME_HEIGHT 16u
#define FOOTER 22u
#define MARGIN 8u
#define CHARACTER 7.25 /* width of one, 12 px fixed-width fonts have 7.2 */
#define LABEL_PADDING 6.0
#define THIN 3.0 /* frames narrower than this have no edge: it would be all that is seen */

#define HUNDRED_PERCENT 100000000u

static const unsigned char flame_css[] = {
#include "share/flame.css.inc"
};
static const unsigned char flame_js[] = {
#include "share/flame.js.inc"
};

struct svg_writer {
    FILE *stream;
    const struct profile *profile;
    const struct profile_value_type *type;
    const struct flame_options *options;
    const struct flame_tree *tree;
    const struct flame_layout *layout;
    uint32_t width;  /* nominal, pixels */
    uint32_t height; /* pixels */
    bool is_change;  /* some values are negative */
};

struct flame_options flame_options_default(void)
{
    return (struct flame_options){
        .limits = {.min_width = 0.0001, .max_frames = 10000, .order = FLAME_ORDER_VALUE}};
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL || slash[1] == '\0' ? path : slash + 1;
}

static int64_t clamp_signed(uint64_t value)
{
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* Position in the picture of a value's distance from the left edge. */
static uint32_t place_of(const struct svg_writer *writer, uint64_t value)
{
    return (uint32_t)((unsigned __int128)value * HUNDRED_PERCENT / writer->layout->total);
}

/* " name="12.5%"", the zeros at the end left out. */
static void write_place(FILE *stream, const char *name, uint32_t place)
{
    uint32_t whole = place / 1000000;
    uint32_t part = place % 1000000;
    int digits = 6;
    for (; digits > 0 && part % 10 == 0; digits--)
        part /= 10;
    if (digits == 0)
        fprintf(stream, " %s=\"%" PRIu32 "%%\"", name, whole);
    else
        fprintf(stream, " %s=\"%" PRIu32 ".%0*" PRIu32 "%%\"", name, whole, digits, part);
}

/* A value for people. Counts say of what: "35 objects" for alloc_objects/count. */
static void write_value(const struct svg_writer *writer, uint64_t value)
{
    char text[QUANTITY_TEXT_SIZE];
    flame_text_write(writer->stream, quantity_text(clamp_signed(value), writer->type->unit, text));
    if (strcmp(writer->type->unit, "count") == 0) {
        const char *underscore = strrchr(writer->type->type, '_');
        const char *what = underscore == NULL ? writer->type->type : underscore + 1;
        fputc(' ', writer->stream);
        flame_text_write(writer->stream, what);
    }
}

static void write_share(const struct svg_writer *writer, uint64_t value)
{
    char text[QUANTITY_TEXT_SIZE];
    uint64_t total = writer->layout->total;
    int shift = total > INT64_MAX ? 1 : 0;
    quantity_percent((int64_t)(value >> shift), (int64_t)(total >> shift), text);
    fputs(text + strspn(text, " "), writer->stream);
}

/* "+3MB" or "-3MB": what is left of growth and shrinkage. */
static void write_change(const struct svg_writer *writer, uint64_t growth, uint64_t shrink)
{
    if (growth != shrink)
        fputc(growth > shrink ? '+' : '-', writer->stream);
    write_value(writer, growth > shrink ? growth - shrink : shrink - growth);
}

static void write_line(FILE *stream, const char *text)
{
    fputs(text, stream);
    fputc('\n', stream);
}

/* What the picture is about: "redis-server: inuse_space". */
static void write_heading(const struct svg_writer *writer)
{
    const char *title = writer->options->title;
    if (title == NULL && writer->profile->mapping_count > 0)
        title = base_name(writer->profile->mappings[0]->filename);
    if (title != NULL && title[0] != '\0') {
        flame_text_write(writer->stream, title);
        fputs(": ", writer->stream);
    }
    flame_text_write(writer->stream, writer->type->type);
    if (writer->is_change)
        fputs(" (difference)", writer->stream);
}

/* One sentence for each thing that the picture does not show; nothing when it shows all. */
static void write_omissions(const struct svg_writer *writer)
{
    const struct flame_layout *layout = writer->layout;
    if (layout->narrow_count > 0) {
        fprintf(writer->stream, "%zu frame%s narrower than ", layout->narrow_count,
                layout->narrow_count == 1 ? "" : "s");
        write_share(writer, layout->narrowest);
        fputs(" not shown (", writer->stream);
        write_value(writer, layout->narrow_width);
        fputs(", ", writer->stream);
        write_share(writer, layout->narrow_width);
        fputs(" in all). ", writer->stream);
    }
    if (layout->deep_count > 0)
        fprintf(writer->stream, "%zu frame%s deeper than %u not shown. ", layout->deep_count,
                layout->deep_count == 1 ? "" : "s", FLAME_MAX_DEPTH - 1);
    if (writer->is_change)
        fputs("Difference of two profiles: widths are growth and shrinkage together; red grew, "
              "blue shrank.",
              writer->stream);
}

static bool has_omissions(const struct svg_writer *writer)
{
    return writer->layout->narrow_count > 0 || writer->layout->deep_count > 0 || writer->is_change;
}

static void write_head(const struct svg_writer *writer)
{
    FILE *stream = writer->stream;
    fprintf(stream,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" class=\"flame\" "
            "width=\"%" PRIu32 "\" height=\"%" PRIu32 "\" viewBox=\"0 0 %" PRIu32 " %" PRIu32
            "\" data-row=\"%u\"%s%s>\n<title>",
            writer->width, writer->height, writer->width, writer->height, ROW,
            writer->options->width != 0 ? " data-fixed=\"\"" : "",
            writer->options->inverted ? " data-inverted=\"\"" : "");
    write_heading(writer);
    fputs("</title>\n<style><![CDATA[\n", stream);
    fwrite(flame_css, 1, sizeof flame_css, stream);
    write_line(stream, "]]></style>");
    write_line(stream, "<rect class=\"ground\" width=\"100%\" height=\"100%\" fill=\"#fff\"/>");
}

/* The frame's <title>: name, value and share on the first line, in the form that readers of
 * flamegraphs know; then what ends in the frame itself, and where its code is. */
static void write_frame_title(const struct svg_writer *writer, const struct flame_frame *frame,
                              const char *module, const char *source)
{
    FILE *stream = writer->stream;
    const struct flame_node *node = &writer->tree->nodes[frame->node];
    uint64_t self = node->self_growth + node->self_shrink;
    fputs("<title>", stream);
    flame_text_write(stream, flame_tree_name(writer->tree, node));
    fputs(" (", stream);
    if (writer->is_change)
        write_change(writer, node->growth, node->shrink);
    else
        write_value(writer, frame->width);
    fputs(", ", stream);
    write_share(writer, frame->width);
    fputs(writer->is_change ? " of all change)\n" : ")\n", stream);
    if (writer->is_change && node->growth > 0 && node->shrink > 0) {
        fputs("grew ", stream);
        write_value(writer, node->growth);
        fputs(", shrank ", stream);
        write_value(writer, node->shrink);
        fputs(", ", stream);
    }
    fputs("self ", stream);
    if (writer->is_change)
        write_change(writer, node->self_growth, node->self_shrink);
    else
        write_value(writer, self);
    if (self > 0) {
        fputs(" (", stream);
        write_share(writer, self);
        fputc(')', stream);
    }
    if (module[0] != '\0') {
        fputs(", in ", stream);
        flame_text_write(stream, module);
    }
    if (source[0] != '\0') {
        fputs(", ", stream);
        flame_text_write(stream, source);
    }
    fputs("</title>", stream);
}

static void write_frame(const struct svg_writer *writer, const struct flame_frame *frame)
{
    FILE *stream = writer->stream;
    const struct flame_node *node = &writer->tree->nodes[frame->node];
    const char *name = flame_tree_name(writer->tree, node);
    const char *module = node->mapping != NULL ? base_name(node->mapping->filename) : "";
    const char *source = node->function != NULL ? base_name(node->function->filename) : "";
    uint32_t left = place_of(writer, frame->start);
    uint32_t right = place_of(writer, frame->start + frame->width);
    uint32_t width = right > left ? right - left : 1;
    uint32_t row =
        writer->options->inverted ? frame->depth : writer->layout->row_count - 1 - frame->depth;

    char colour[FLAME_COLOUR_SIZE] = "n";
    if (writer->is_change)
        flame_colour_change(node->growth, node->shrink, colour);
    else if (frame->depth > 0)
        flame_colour(name, module, source, colour);
    double pixels = (double)(writer->width - 2 * MARGIN) * width / HUNDRED_PERCENT;
    fprintf(stream, "<svg class=\"%s%s\"", colour, pixels < THIN ? " thin" : "");
    write_place(stream, "x", left);
    write_place(stream, "width", width);
    fprintf(stream, " y=\"%" PRIu32 "\" height=\"%u\">", row * ROW, FRAME_HEIGHT);
    write_frame_title(writer, frame, module, source);
    fputs("<rect width=\"100%\" height=\"100%\"/>", stream);
    if (pixels > LABEL_PADDING + 3 * CHARACTER) {
        fputs("<text x=\"3\" y=\"12\">", stream);
        flame_text_write_label(stream, name, (size_t)((pixels - LABEL_PADDING) / CHARACTER));
        fputs("</text>", stream);
    }
    write_line(stream, "</svg>");
}

static void write_frames(const struct svg_writer *writer)
{
    fprintf(writer->stream,
            "<svg class=\"frames\" x=\"%u\" y=\"%u\" width=\"%" PRIu32 "\" height=\"%" PRIu32
            "\">\n",
            MARGIN, HEADER, writer->width - 2 * MARGIN, writer->layout->row_count * ROW);
    for (size_t i = 0; i < writer->layout->frame_count; i++)
        write_frame(writer, &writer->layout->frames[i]);
    write_line(writer->stream, "</svg>");
}

/* Heading and the line of details. Behind the frames: they pass under it when the script keeps it
 * in sight. */
static void write_header(const struct svg_writer *writer)
{
    FILE *stream = writer->stream;
    fprintf(stream,
            "<svg class=\"header\" width=\"100%%\" height=\"%u\">"
            "<rect class=\"ground\" width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
            "<text class=\"heading\" x=\"%u\" y=\"22\">",
            HEADER, MARGIN);
    write_heading(writer);
    fprintf(stream, "</text>\n<text class=\"details\" x=\"%u\" y=\"%u\">", MARGIN, HEADER - 10);
    if (writer->layout->total > 0) {
        fputs("all: ", stream);
        if (writer->is_change)
            write_change(writer, writer->tree->nodes[0].growth, writer->tree->nodes[0].shrink);
        else
            write_value(writer, writer->layout->total);
    }
    write_line(stream, "</text>\n</svg>");
}

static void write_foot(const struct svg_writer *writer)
{
    FILE *stream = writer->stream;
    if (has_omissions(writer)) {
        fprintf(stream, "<text class=\"note\" x=\"%u\" y=\"%" PRIu32 "\">", MARGIN,
                writer->height - 7);
        write_omissions(writer);
        write_line(stream, "</text>");
    }
    fputs("<script><![CDATA[\n", stream);
    fwrite(flame_js, 1, sizeof flame_js, stream);
    write_line(stream, "]]></script>\n</svg>");
}

static void write_empty(const struct svg_writer *writer)
{
    fprintf(writer->stream, "<text class=\"empty\" x=\"%u\" y=\"%u\">No samples: ", MARGIN,
            HEADER + FRAME_HEIGHT);
    flame_text_write(writer->stream, writer->type->type);
    write_line(writer->stream, " is 0 everywhere in this profile.</text>");
}

static void write_picture(struct svg_writer *writer)
{
    const struct flame_options *options = writer->options;
    writer->is_change = writer->tree->nodes[0].shrink > 0;
    writer->width = options->width != 0 ? options->width : NOMINAL_WIDTH;
    writer->height =
        HEADER + writer->layout->row_count * ROW + (has_omissions(writer) ? FOOTER : MARGIN);
    write_head(writer);
    if (writer->layout->total > 0)
        write_frames(writer);
    else
        write_empty(writer);
    write_header(writer);
    write_foot(writer);
}

bool flame_svg_write(const struct profile *profile, int type_index,
                     const struct flame_options *options, FILE *stream, struct error *error)
{
    struct flame_tree tree;
    struct flame_layout layout;
    if (!flame_tree_init(&tree, profile, type_index, options->progress, options->context, error))
        return false;
    flame_layout_init(&layout, &tree, &options->limits);
    struct svg_writer writer = {.stream = stream,
                                .profile = profile,
                                .type = &profile->sample_types[type_index],
                                .options = options,
                                .tree = &tree,
                                .layout = &layout};
    errno = 0;
    write_picture(&writer);
    flame_layout_done(&layout);
    flame_tree_done(&tree);
    if (fflush(stream) != 0 || ferror(stream)) {
        error_set_errno(error, NULL, errno != 0 ? errno : EIO, "cannot write the flamegraph");
        return false;
    }
    return true;
}
