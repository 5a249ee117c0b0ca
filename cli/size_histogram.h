/* size_histogram.h: how many objects of which size a program allocates, by powers of two.
 *
 * Class k holds the requests of more than 2^(k-1) and at most 2^k bytes, class 0 those of 0 and 1
 * byte. A profile carries it as the comment "# sizes CLASS:OBJECTS:BYTES ...": one entry for each
 * class that is not empty, ascending; OBJECTS and BYTES are estimates of what was allocated. */
#ifndef HEAPPROF_CLI_SIZE_HISTOGRAM_H
#define HEAPPROF_CLI_SIZE_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#define SIZE_HISTOGRAM_KEY "sizes" /* of the comment; see machine_comments.h */
#define SIZE_HISTOGRAM_CLASSES 65  /* of any 64-bit size */

struct size_class {
    uint64_t objects, bytes;
};

/* All zero is an empty one. */
struct size_histogram {
    struct size_class classes[SIZE_HISTOGRAM_CLASSES];
};

/* The comment's value, "" for an empty histogram. The caller frees it. */
char *size_histogram_text(const struct size_histogram *histogram);

/* Reads such a value back. False, with *histogram empty, for what size_histogram_text does not
 * write: another character, a number too large, a class that does not exist, out of order, twice
 * or empty. */
bool size_histogram_parse(const char *text, struct size_histogram *histogram);

#endif
