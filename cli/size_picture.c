/* size_picture.c: a histogram of allocation sizes as a table with bars: one for the objects, one
 * for the bytes, since the small ones are many and the large ones heavy. */
#include "cli/size_picture.h"

#include <inttypes.h>
#include <string.h>

#include "cli/quantity.h"
#include "cli/saturating.h"
#include "cli/size_histogram.h"

enum { SIZE_COLUMNS = 8, BYTES_COLUMNS = 10, GAP = 2, BAR_LEAST = 8 };

/* What the pictures of all rows have in common. */
struct scale {
    struct size_class most;
    unsigned objects_width, bar_width;
};

/* The largest request of class k. */
static const char *size_text(unsigned k, char text[QUANTITY_TEXT_SIZE])
{
    if (k < 63)
        return quantity_text((int64_t)1 << k, "bytes", text);
    snprintf(text, QUANTITY_TEXT_SIZE, "%uPB", 1u << (k - 50));
    return text;
}

static void print_spaces(unsigned count, FILE *stream)
{
    fprintf(stream, "%*s", (int)count, "");
}

static struct scale scale_of(const struct size_histogram *histogram, unsigned columns)
{
    struct scale scale = {.objects_width = sizeof("objects") - 1};
    for (unsigned k = 0; k < SIZE_HISTOGRAM_CLASSES; k++) {
        const struct size_class *class = &histogram->classes[k];
        if (class->objects > scale.most.objects)
            scale.most.objects = class->objects;
        if (class->bytes > scale.most.bytes)
            scale.most.bytes = class->bytes;
    }
    unsigned digits = (unsigned)snprintf(NULL, 0, "%" PRIu64, scale.most.objects);
    if (digits > scale.objects_width)
        scale.objects_width = digits;
    unsigned numbers = SIZE_COLUMNS + GAP + scale.objects_width + GAP + BYTES_COLUMNS + 2 * GAP;
    scale.bar_width = columns > numbers + 2 * BAR_LEAST ? (columns - numbers) / 2 : BAR_LEAST;
    return scale;
}

static void print_row(const struct size_class *class, unsigned k, const struct scale *scale,
                      enum chart_style style, FILE *stream)
{
    char size[QUANTITY_TEXT_SIZE], bytes[QUANTITY_TEXT_SIZE];
    fprintf(stream, "%*s  %*" PRIu64 "  %*s", SIZE_COLUMNS, size_text(k, size),
            (int)scale->objects_width, class->objects, BYTES_COLUMNS,
            quantity_text(saturating_signed(class->bytes), "bytes", bytes));
    if (class->objects != 0 || class->bytes != 0)
        print_spaces(GAP, stream);
    unsigned used = chart_bar(class->objects, scale->most.objects, scale->bar_width, style, stream);
    if (class->bytes != 0) {
        print_spaces(scale->bar_width - used + GAP, stream);
        chart_bar(class->bytes, scale->most.bytes, scale->bar_width, style, stream);
    }
    fputc('\n', stream);
}

void size_picture_print(const struct size_histogram *histogram, unsigned columns,
                        enum chart_style style, FILE *stream)
{
    struct scale scale = scale_of(histogram, columns);
    unsigned first = SIZE_HISTOGRAM_CLASSES, last = 0;
    for (unsigned k = 0; k < SIZE_HISTOGRAM_CLASSES; k++) {
        if (histogram->classes[k].objects == 0 && histogram->classes[k].bytes == 0)
            continue;
        first = k < first ? k : first;
        last = k;
    }
    fprintf(stream, "%*s  %*s  %*s  %-*s  %s\n", SIZE_COLUMNS, "up to", (int)scale.objects_width,
            "objects", BYTES_COLUMNS, "bytes", (int)scale.bar_width, "objects", "bytes");
    for (unsigned k = first; k <= last; k++)
        print_row(&histogram->classes[k], k, &scale, style, stream);
}
