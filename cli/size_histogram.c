/* size_histogram.c: how many objects of which size a program allocates, by powers of two. */
#include "cli/size_histogram.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/decimal.h"
#include "proto/arena.h"

#define ENTRY_SIZE sizeof(" 64:18446744073709551615:18446744073709551615")

char *size_histogram_text(const struct size_histogram *histogram)
{
    char *text = heap_alloc(SIZE_HISTOGRAM_CLASSES * ENTRY_SIZE);
    char *end = text;
    *end = '\0';
    for (unsigned k = 0; k < SIZE_HISTOGRAM_CLASSES; k++) {
        const struct size_class *class = &histogram->classes[k];
        if (class->objects != 0 || class->bytes != 0)
            end += snprintf(end, ENTRY_SIZE, "%s%u:%" PRIu64 ":%" PRIu64, end > text ? " " : "", k,
                            class->objects, class->bytes);
    }
    return text;
}

/* "CLASS:OBJECTS:BYTES" at *text, of a class from least on. */
static bool parse_entry(const char **text, uint64_t least, uint64_t *k, struct size_class *class)
{
    return decimal_read(text, k) && *k >= least && *k < SIZE_HISTOGRAM_CLASSES &&
           *(*text)++ == ':' && decimal_read(text, &class->objects) && *(*text)++ == ':' &&
           decimal_read(text, &class->bytes) && (class->objects != 0 || class->bytes != 0);
}

bool size_histogram_parse(const char *text, struct size_histogram *histogram)
{
    uint64_t least = 0;
    *histogram = (struct size_histogram){0};
    while (*text != '\0') {
        uint64_t k;
        struct size_class class;
        bool ok = (least == 0 || *text++ == ' ') && parse_entry(&text, least, &k, &class);
        if (!ok) {
            *histogram = (struct size_histogram){0};
            return false;
        }
        histogram->classes[k] = class;
        least = k + 1;
    }
    return true;
}
