/* comments_fuzz.c: a libFuzzer target for what `heapprof info` makes of a profile's comments.
 *
 * Each line is a comment. Whatever they say, all of it is printed without a fault, and a histogram
 * or timeline that is taken is the same when it is written and read again. */
#include "cli/machine_comments.h"
#include "cli/profile_facts.h"
#include "cli/size_histogram.h"
#include "cli/size_picture.h"
#include "cli/timeline.h"
#include "cli/timeline_picture.h"
#include "proto/profile.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void try_sizes(const char *text, FILE *stream)
{
    struct size_histogram histogram, again;
    if (!size_histogram_parse(text, &histogram))
        return;
    char *written = size_histogram_text(&histogram);
    require(size_histogram_parse(written, &again));
    require(memcmp(&histogram, &again, sizeof(again)) == 0);
    free(written);
    size_picture_print(&histogram, 80, CHART_BLOCKS, stream);
}

static void try_timeline(const char *text, FILE *stream)
{
    static struct timeline timeline, again;
    if (!timeline_parse(text, &timeline))
        return;
    char *written = timeline_text(&timeline);
    require(timeline_parse(written, &again));
    require(again.count == timeline.count);
    require(memcmp(again.points, timeline.points, again.count * sizeof(*again.points)) == 0);
    free(written);
    if (timeline.count == 0)
        return;
    timeline_picture_print(&timeline, 80, CHART_BLOCKS, stream);
    timeline_table_print(&timeline, 40, 80, CHART_ASCII, stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *nowhere;
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    struct profile *profile = profile_new();
    profile_add_sample_type(profile, "inuse_space", "bytes");
    while (size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t length = end ? (size_t)(end - data) : size;
        profile_add_comment(profile, profile_intern_length(profile, (const char *)data, length));
        length += end != NULL;
        data += length;
        size -= length;
    }
    const char *sizes = machine_comment(profile, SIZE_HISTOGRAM_KEY);
    const char *timeline = machine_comment(profile, TIMELINE_KEY);
    try_sizes(sizes ? sizes : "", nowhere);
    try_timeline(timeline ? timeline : "", nowhere);
    profile_facts_print(profile, "-", true, nowhere);
    profile_free(profile);
    return 0;
}
