/* timeline_picture.c: a timeline as a picture over time, and as a table.
 *
 * Both are made of spans of time: what was in use is the most of any point within, or what was at
 * the point before when there is none; what was allocated is known at the points, and taken to have
 * grown evenly between them. Before the first point there is a point of nothing at 0. */
#include "cli/timeline_picture.h"

#include <stdbool.h>
#include <stdlib.h>

#include "cli/quantity.h"
#include "cli/saturating.h"
#include "cli/timeline.h"
#include "proto/arena.h"

enum { LABEL_WIDTH = 12, CHART_LEAST = 16, VALUE_WIDTH = 10, BAR_LEAST = 8 };

static const char *bytes_text(uint64_t bytes, char text[QUANTITY_TEXT_SIZE])
{
    return quantity_text(saturating_signed(bytes), "bytes", text);
}

static const char *time_text(uint64_t ms, char text[QUANTITY_TEXT_SIZE])
{
    return quantity_text(saturating_signed(ms), "milliseconds", text);
}

/* bytes in ms milliseconds, by the second; UINT64_MAX where that is too much. */
static uint64_t rate_of(double bytes, double ms)
{
    double rate = ms > 0 ? bytes * 1000 / ms : 0;
    return rate < 0x1p63 ? (uint64_t)rate : UINT64_MAX;
}

/* --- pictures -------------------------------------------------------------------------------- */

/* A timeline in spans of equal length, one a column. */
struct spans {
    size_t count;
    uint64_t *live, *rate, *rss;
    uint64_t most_live, most_rate, most_rss;
};

/* What was allocated at t_ms, which is not behind the last point. *next, the first point not before
 * t_ms, only goes up. */
static double allocated_at(const struct timeline *timeline, double t_ms, size_t *next)
{
    static const struct timeline_point start = {0};
    const struct timeline_point *points = timeline->points;
    while (*next + 1 < timeline->count && (double)points[*next].t_ms < t_ms)
        ++*next;
    const struct timeline_point *before = *next > 0 ? &points[*next - 1] : &start;
    const struct timeline_point *after = &points[*next];
    double length = (double)after->t_ms - (double)before->t_ms;
    double part = length > 0 ? (t_ms - (double)before->t_ms) / length : 1;
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return (double)before->allocated +
           part * ((double)after->allocated - (double)before->allocated);
}

static void fill_levels(struct spans *spans, const struct timeline *timeline, double length_ms)
{
    size_t next = 0;
    uint64_t live = 0, rss = 0;
    for (size_t i = 0; i < spans->count; i++) {
        double end = (double)(i + 1) * length_ms;
        bool is_last = i + 1 == spans->count;
        spans->live[i] = live;
        spans->rss[i] = rss;
        for (bool first = true;
             next < timeline->count && (is_last || (double)timeline->points[next].t_ms < end);
             next++, first = false) {
            live = timeline->points[next].live;
            rss = timeline->points[next].rss;
            spans->live[i] = first || live > spans->live[i] ? live : spans->live[i];
            spans->rss[i] = first || rss > spans->rss[i] ? rss : spans->rss[i];
        }
        spans->most_live = spans->live[i] > spans->most_live ? spans->live[i] : spans->most_live;
        spans->most_rss = spans->rss[i] > spans->most_rss ? spans->rss[i] : spans->most_rss;
    }
}

static void fill_rates(struct spans *spans, const struct timeline *timeline, double length_ms)
{
    size_t next = 0;
    double before = 0;
    for (size_t i = 0; i < spans->count; i++) {
        double allocated = allocated_at(timeline, (double)(i + 1) * length_ms, &next);
        spans->rate[i] = rate_of(allocated - before, length_ms);
        spans->most_rate = spans->rate[i] > spans->most_rate ? spans->rate[i] : spans->most_rate;
        before = allocated;
    }
}

static void spans_init(struct spans *spans, const struct timeline *timeline, size_t count)
{
    uint64_t *values = heap_alloc(3 * count * sizeof(*values));
    *spans = (struct spans){
        .count = count, .live = values, .rate = values + count, .rss = values + 2 * count};
    double length_ms = (double)timeline->points[timeline->count - 1].t_ms / (double)count;
    fill_levels(spans, timeline, length_ms);
    fill_rates(spans, timeline, length_ms);
}

static void spans_done(struct spans *spans)
{
    free(spans->live);
}

static void print_chart(const char *title, const char *per, const uint64_t *values, size_t count,
                        uint64_t most, unsigned height, enum chart_style style, FILE *stream)
{
    char text[QUANTITY_TEXT_SIZE], label[QUANTITY_TEXT_SIZE + 2];
    fprintf(stream, "%*s  %s\n", LABEL_WIDTH, "", title);
    for (unsigned row = 0; row < height; row++) {
        snprintf(label, sizeof(label), "%s%s", bytes_text(most, text), most != 0 ? per : "");
        fprintf(stream, "%*s |", LABEL_WIDTH, row == 0 ? label : row + 1 == height ? "0" : "");
        chart_columns_row(values, count, most, row, height, style, stream);
        fputc('\n', stream);
    }
}

static void print_time_axis(const struct timeline *timeline, unsigned width, FILE *stream)
{
    char text[QUANTITY_TEXT_SIZE];
    time_text(timeline->points[timeline->count - 1].t_ms, text);
    fprintf(stream, "%*s  0%*s\n", LABEL_WIDTH, "", (int)width - 1, text);
}

void timeline_picture_print(const struct timeline *timeline, unsigned columns,
                            enum chart_style style, FILE *stream)
{
    unsigned edge = LABEL_WIDTH + 2;
    unsigned width = columns > edge + CHART_LEAST ? columns - edge : CHART_LEAST;
    struct spans spans;
    spans_init(&spans, timeline, width);
    print_chart("in use", "", spans.live, width, spans.most_live, 6, style, stream);
    print_chart("allocated per second", "/s", spans.rate, width, spans.most_rate, 3, style, stream);
    if (spans.most_rss != 0)
        print_chart("RSS", "", spans.rss, width, spans.most_rss, 3, style, stream);
    print_time_axis(timeline, width, stream);
    spans_done(&spans);
}

/* --- tables ---------------------------------------------------------------------------------- */

static uint64_t most_live(const struct timeline *timeline)
{
    uint64_t most = 0;
    for (size_t i = 0; i < timeline->count; i++)
        most = timeline->points[i].live > most ? timeline->points[i].live : most;
    return most;
}

/* Of points[first..end): the last one, with the most in use and the most RSS of all. */
static struct timeline_point summed_up(const struct timeline *timeline, size_t first, size_t end)
{
    struct timeline_point sum = timeline->points[end - 1];
    for (size_t i = first; i < end; i++) {
        const struct timeline_point *point = &timeline->points[i];
        sum.live = point->live > sum.live ? point->live : sum.live;
        sum.rss = point->rss > sum.rss ? point->rss : sum.rss;
    }
    return sum;
}

static void print_line(const struct timeline_point *line, const struct timeline_point *before,
                       FILE *stream)
{
    char text[QUANTITY_TEXT_SIZE], rate_text[QUANTITY_TEXT_SIZE + 2];
    uint64_t rate = rate_of((double)line->allocated - (double)before->allocated,
                            (double)line->t_ms - (double)before->t_ms);
    fprintf(stream, "%*s", VALUE_WIDTH, time_text(line->t_ms, text));
    fprintf(stream, " %*s", VALUE_WIDTH, bytes_text(line->live, text));
    fprintf(stream, " %*s", VALUE_WIDTH, bytes_text(line->allocated, text));
    snprintf(rate_text, sizeof(rate_text), "%s%s", bytes_text(rate, text), rate != 0 ? "/s" : "");
    fprintf(stream, " %*s", VALUE_WIDTH + 2, rate_text);
    fprintf(stream, " %*s", VALUE_WIDTH, line->rss != 0 ? bytes_text(line->rss, text) : "-");
}

void timeline_table_print(const struct timeline *timeline, size_t rows, unsigned columns,
                          enum chart_style style, FILE *stream)
{
    unsigned numbers = 5 * (VALUE_WIDTH + 1) + 3;
    unsigned width = columns > numbers + BAR_LEAST ? columns - numbers : BAR_LEAST;
    size_t each = rows != 0 ? (timeline->count + rows - 1) / rows : 1;
    uint64_t most = most_live(timeline);
    struct timeline_point before = {0};
    fprintf(stream, "%*s %*s %*s %*s %*s\n", VALUE_WIDTH, "time", VALUE_WIDTH, "in use",
            VALUE_WIDTH, "allocated", VALUE_WIDTH + 2, "per second", VALUE_WIDTH, "RSS");
    for (size_t first = 0; first < timeline->count; first += each) {
        size_t end = timeline->count - first > each ? first + each : timeline->count;
        struct timeline_point line = summed_up(timeline, first, end);
        print_line(&line, &before, stream);
        if (line.live != 0)
            fputs("  ", stream);
        chart_bar(line.live, most, width, style, stream);
        fputc('\n', stream);
        before = line;
    }
}
