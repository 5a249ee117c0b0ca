/* timeline.c: how much memory was in use when, in bounded memory. */
#include "cli/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/decimal.h"
#include "proto/arena.h"

#define COLUMNS_MOST 16 /* that a file may have */
#define POINT_SIZE                                                                                 \
    sizeof(" 18446744073709551615:18446744073709551615:18446744073709551615:18446744073709551615")

static const struct column {
    const char *name;
    size_t offset;
} columns[] = {
    {"live", offsetof(struct timeline_point, live)},
    {"allocated", offsetof(struct timeline_point, allocated)},
    {"rss", offsetof(struct timeline_point, rss)},
};

#define COLUMN_COUNT (sizeof(columns) / sizeof(columns[0]))

/* --- adding ---------------------------------------------------------------------------------- */

void timeline_init(struct timeline *timeline, uint64_t interval_ms)
{
    timeline->count = 0;
    timeline->interval_ms = interval_ms != 0 ? interval_ms : 1;
    timeline->due_ms = 0;
}

bool timeline_is_due(const struct timeline *timeline, uint64_t t_ms)
{
    return t_ms >= timeline->due_ms;
}

/* Keeps the higher point of each two. */
static void thin_out(struct timeline *timeline)
{
    struct timeline_point *points = timeline->points;
    size_t kept = 0;
    for (size_t i = 0; i < timeline->count; i += 2) {
        bool second = i + 1 < timeline->count && points[i + 1].live > points[i].live;
        points[kept++] = points[second ? i + 1 : i];
    }
    timeline->count = kept;
    if (timeline->interval_ms <= UINT64_MAX / 2)
        timeline->interval_ms *= 2;
}

void timeline_add(struct timeline *timeline, const struct timeline_point *point)
{
    struct timeline_point next = *point;
    if (timeline->count == TIMELINE_POINTS)
        thin_out(timeline);
    if (timeline->count > 0) {
        const struct timeline_point *last = &timeline->points[timeline->count - 1];
        next.t_ms = next.t_ms > last->t_ms ? next.t_ms : last->t_ms;
        next.allocated = next.allocated > last->allocated ? next.allocated : last->allocated;
    }
    timeline->points[timeline->count++] = next;
    /* The next whole multiple of the interval: being late once does not shift all that follow. */
    uint64_t start = next.t_ms - next.t_ms % timeline->interval_ms;
    if (__builtin_add_overflow(start, timeline->interval_ms, &timeline->due_ms))
        timeline->due_ms = UINT64_MAX;
}

/* --- writing --------------------------------------------------------------------------------- */

static uint64_t column_of(const struct timeline_point *point, size_t column)
{
    uint64_t value;
    memcpy(&value, (const char *)point + columns[column].offset, sizeof(value));
    return value;
}

char *timeline_text(const struct timeline *timeline)
{
    size_t names = 0;
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        names += strlen(columns[i].name) + 1;
    char *text = heap_alloc(names + timeline->count * POINT_SIZE + 1);
    char *end = text;
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        end += sprintf(end, "%s%s", i > 0 ? " " : "", columns[i].name);
    for (size_t i = 0; i < timeline->count; i++) {
        end += sprintf(end, " %" PRIu64, timeline->points[i].t_ms);
        for (size_t k = 0; k < COLUMN_COUNT; k++)
            end += sprintf(end, ":%" PRIu64, column_of(&timeline->points[i], k));
    }
    return text;
}

/* --- reading --------------------------------------------------------------------------------- */

/* The columns of a text, each by its place in columns; COLUMN_COUNT for one that is not known. */
struct heading {
    size_t columns[COLUMNS_MOST];
    size_t count;
};

static size_t column_called(const char *name, size_t length)
{
    size_t i = 0;
    while (i < COLUMN_COUNT &&
           (strlen(columns[i].name) != length || memcmp(columns[i].name, name, length) != 0))
        i++;
    return i;
}

/* Reads the words at *text up to the first point. Each known name once, "live" among them. */
static bool parse_heading(const char **text, struct heading *heading)
{
    bool seen[COLUMN_COUNT + 1] = {0};
    heading->count = 0;
    while (**text != '\0' && (**text < '0' || **text > '9')) {
        size_t length = strcspn(*text, " ");
        size_t column = column_called(*text, length);
        if (length == 0 || memchr(*text, ':', length) != NULL || heading->count == COLUMNS_MOST ||
            (column < COLUMN_COUNT && seen[column]))
            return false;
        seen[column] = true;
        heading->columns[heading->count++] = column;
        *text += length;
        if (**text == ' ' && *++*text == '\0')
            return false;
    }
    return seen[0];
}

/* "T:VALUE:..." at *text. */
static bool parse_point(const char **text, const struct heading *heading,
                        struct timeline_point *point)
{
    *point = (struct timeline_point){0};
    if (!decimal_read(text, &point->t_ms))
        return false;
    for (size_t i = 0; i < heading->count; i++) {
        uint64_t value;
        if (**text != ':')
            return false;
        ++*text;
        if (!decimal_read(text, &value))
            return false;
        if (heading->columns[i] < COLUMN_COUNT)
            memcpy((char *)point + columns[heading->columns[i]].offset, &value, sizeof(value));
    }
    return true;
}

static bool parse_points(const char *text, const struct heading *heading, struct timeline *timeline)
{
    while (*text != '\0') {
        struct timeline_point *point = &timeline->points[timeline->count];
        if (timeline->count == TIMELINE_POINTS || (timeline->count > 0 && *text++ != ' ') ||
            !parse_point(&text, heading, point))
            return false;
        if (timeline->count > 0 &&
            (point->t_ms < point[-1].t_ms || point->allocated < point[-1].allocated))
            return false;
        timeline->count++;
    }
    return true;
}

bool timeline_parse(const char *text, struct timeline *timeline)
{
    struct heading heading;
    timeline_init(timeline, 1);
    if (parse_heading(&text, &heading) && parse_points(text, &heading, timeline))
        return true;
    timeline->count = 0;
    return false;
}
