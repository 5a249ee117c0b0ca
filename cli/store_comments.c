/* store_comments.c: what a profile says about its process, in its comments. */
#include "cli/store_comments.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/size_histogram.h"
#include "cli/store_losses.h"
#include "cli/store_sizes.h"
#include "cli/timeline.h"
#include "proto/arena.h"
#include "proto/profile.h"

static void __attribute__((format(printf, 2, 3)))
add_comment(struct profile *profile, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    profile_add_comment(profile, text);
}

static void add_losses(struct profile *profile, const struct store_totals *totals)
{
    for (int i = 0; i < STORE_LOSS_COUNT; i++) {
        const char *capitals = store_loss_texts[i].name;
        char name[64] = "";
        for (size_t k = 0; k < sizeof(name) - 1 && capitals[k] != '\0'; k++)
            name[k] = (char)tolower((unsigned char)capitals[k]);
        if (totals->losses[i] != 0)
            add_comment(profile, "# loss %s %llu %llu", name, (unsigned long long)totals->losses[i],
                        (unsigned long long)totals->loss_bytes[i]);
    }
}

/* "# KEY TEXT", however long; text is freed. */
static void add_text(struct profile *profile, const char *key, char *text)
{
    size_t size = strlen(key) + strlen(text) + 4;
    char *comment = heap_alloc(size);
    snprintf(comment, size, "# %s %s", key, text);
    profile_add_comment(profile, comment);
    free(comment);
    free(text);
}

static void add_pictures(struct profile *profile, const struct store_snapshot *snapshot,
                         const struct timeline *timeline)
{
    struct size_histogram histogram;
    store_sizes_sum(&snapshot->sizes, &histogram);
    add_text(profile, SIZE_HISTOGRAM_KEY, size_histogram_text(&histogram));
    if (timeline)
        add_text(profile, TIMELINE_KEY, timeline_text(timeline));
}

void store_add_comments(struct profile *profile, const struct store_snapshot *snapshot,
                        const struct store_image *image, const struct store_totals *totals)
{
    add_comment(profile, "heapprof %s", HEAPPROF_VERSION);
    if (image->command_line[0] != '\0')
        add_comment(profile, "command: %s", image->command_line);
    add_comment(profile, "pid: %u", image->pid);
    add_comment(profile, "# rate %llu", (unsigned long long)image->rate);
    add_comment(profile, "# seed %llu", (unsigned long long)image->seed);
    if (image->fork_ordinal != 0)
        add_comment(profile, "# fork %u", image->fork_ordinal);
    add_comment(profile, "# samples %llu", (unsigned long long)totals->samples);
    add_comment(profile, "# peak_after_ns %llu", (unsigned long long)totals->peak_after_ns);
    add_comment(profile, "# peak_bytes %llu", (unsigned long long)totals->peak_bytes);
    add_comment(profile, "# temporary_threshold_ns %llu", (unsigned long long)image->temporary_ns);
    if (image->rate > 1)
        add_comment(profile, "# counted %llu %llu", (unsigned long long)totals->counted_bytes,
                    (unsigned long long)totals->counted_threads);
    if (totals->peak_rss != 0)
        add_comment(profile, "# peak_rss %llu", (unsigned long long)totals->peak_rss);
    add_pictures(profile, snapshot, image->timeline);
    add_losses(profile, totals);
    if (totals->damaged_stacks != 0)
        add_comment(profile, "# damaged_stacks %u", totals->damaged_stacks);
}
