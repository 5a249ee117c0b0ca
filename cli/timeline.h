/* timeline.h: how much memory was in use when, in bounded memory.
 *
 * Points are added one by one while a process runs. At most TIMELINE_POINTS are kept: when there
 * is no room for another, one of each two goes, and from then on points are due half as often; so
 * a run of any length keeps half of them to all of them, evenly spaced. Of the two, the one with
 * more in use stays: the highest point of all is never lost.
 *
 * A profile carries it as the comment "# timeline live allocated rss T:LIVE:ALLOCATED:RSS ...":
 * the words name the columns, and each point begins with its time. */
#ifndef HEAPPROF_CLI_TIMELINE_H
#define HEAPPROF_CLI_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMELINE_KEY "timeline" /* of the comment; see machine_comments.h */
#define TIMELINE_POINTS 2000

struct timeline_point {
    uint64_t t_ms;      /* since the start of the process image */
    uint64_t live;      /* bytes in use, estimated */
    uint64_t allocated; /* bytes since the start, estimated; never falls */
    uint64_t rss;       /* bytes; 0: not known */
};

/* About 64 kB. */
struct timeline {
    struct timeline_point points[TIMELINE_POINTS]; /* their times never fall */
    size_t count;
    uint64_t interval_ms; /* between points that are due */
    uint64_t due_ms;      /* of the next one */
};

/* An empty timeline, whose points are due every interval_ms (at least 1) until it is full. */
void timeline_init(struct timeline *timeline, uint64_t interval_ms);

/* Whether the time has come for another point. */
bool timeline_is_due(const struct timeline *timeline, uint64_t t_ms);

/* Adds a point, due or not: what must be there (the peak, the end) may come in between. Where its
 * time or what it has allocated is below that of the point before, that one's is taken. */
void timeline_add(struct timeline *timeline, const struct timeline_point *point);

/* The comment's value. The caller frees it; at most 170 kB. */
char *timeline_text(const struct timeline *timeline);

/* Reads such a value back into points and count. Columns may come in any order, and those of other
 * names are read over; "live" must be there, the others are 0 then. False, with *timeline empty,
 * for anything else: another character, a number too large or missing, more points than
 * TIMELINE_POINTS, a time or an allocated sum that falls. */
bool timeline_parse(const char *text, struct timeline *timeline);

#endif
