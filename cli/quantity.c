/* quantity.c: values with units as people read them.
 *
 * Units come in kinds (memory, time, Google compute units), one table each; a unit is found by its
 * aliases in lower case, without a plural s. All scaling is one multiplication and one division in
 * double precision, in this order, because the last digit printed must be pprof's.
 * Source: google/pprof internal/measurement/measurement.go. */
#include "cli/quantity.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define ALIAS_COUNT 3
#define UNIT_NAME_SIZE 16 /* longer than any alias with a plural s */

struct unit {
    const char *name;
    const char *aliases[ALIAS_COUNT];
    double factor; /* in the base of the kind */
};

struct unit_kind {
    const struct unit *units; /* ends with name NULL */
    const char *base_name;    /* for values that suit no unit, and targets of another kind */
    double base_factor;
};

static const struct unit memory_units[] = {
    {"B", {"b", "byte"}, 1},
    {"kB", {"kb", "kbyte", "kilobyte"}, 0x1p10},
    {"MB", {"mb", "mbyte", "megabyte"}, 0x1p20},
    {"GB", {"gb", "gbyte", "gigabyte"}, 0x1p30},
    {"TB", {"tb", "tbyte", "terabyte"}, 0x1p40},
    {"PB", {"pb", "pbyte", "petabyte"}, 0x1p50},
    {0},
};

static const struct unit time_units[] = {
    {"ns", {"ns", "nanosecond"}, 1},    {"us", {"us", "microsecond"}, 1e3},
    {"ms", {"ms", "millisecond"}, 1e6}, {"s", {"s", "sec", "second"}, 1e9},
    {"hrs", {"hour", "hr"}, 3600e9},    {0},
};

static const struct unit compute_units[] = {
    {"n*GCU", {"nanogcu"}, 1e-9},  {"u*GCU", {"microgcu"}, 1e-6},
    {"m*GCU", {"milligcu"}, 1e-3}, {"GCU", {"gcu"}, 1},
    {"k*GCU", {"kilogcu"}, 1e3},   {"M*GCU", {"megagcu"}, 1e6},
    {"G*GCU", {"gigagcu"}, 1e9},   {"T*GCU", {"teragcu"}, 1e12},
    {"P*GCU", {"petagcu"}, 1e15},  {0},
};

static const struct unit_kind kinds[] = {
    {memory_units, "B", 1},
    {time_units, "s", 1e9},
    {compute_units, "GCU", 1},
};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

static const struct unit *unit_by_alias(const struct unit *units, const char *alias)
{
    for (const struct unit *unit = units; unit->name != NULL; unit++)
        for (size_t i = 0; i < ALIAS_COUNT && unit->aliases[i] != NULL; i++)
            if (strcmp(unit->aliases[i], alias) == 0)
                return unit;
    return NULL;
}

/* The unit called text ("Bytes", "ms") among units, NULL when there is none. */
static const struct unit *unit_find(const struct unit *units, const char *text)
{
    char alias[UNIT_NAME_SIZE];
    size_t length = strlen(text);
    if (length >= sizeof(alias))
        return NULL;
    for (size_t i = 0; i <= length; i++)
        alias[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + ('a' - 'A') : text[i]);
    if (length > 2 && alias[length - 1] == 's')
        alias[length - 1] = '\0';
    return unit_by_alias(units, alias);
}

/* The largest unit in which value, given in the base, is at least 1; NULL when it is in none. */
static const struct unit *unit_for_value(const struct unit *units, double value)
{
    const struct unit *best = NULL;
    for (const struct unit *unit = units; unit->name != NULL; unit++)
        if (value / unit->factor >= 1.0 && (best == NULL || unit->factor >= best->factor))
            best = unit;
    return best;
}

static bool is_automatic(const char *unit)
{
    return strcmp(unit, "auto") == 0 || strcmp(unit, "minimum") == 0;
}

static double scale_in_kind(const struct unit_kind *kind, double value, const char *to,
                            const char **unit)
{
    const struct unit *target =
        is_automatic(to) ? unit_for_value(kind->units, value) : unit_find(kind->units, to);
    *unit = target != NULL ? target->name : kind->base_name;
    return value / (target != NULL ? target->factor : kind->base_factor);
}

/* Units not worth printing behind a number. */
static bool is_plain(const char *unit)
{
    return is_automatic(unit) || strcmp(unit, "count") == 0 || strcmp(unit, "sample") == 0 ||
           strcmp(unit, "unit") == 0;
}

double quantity_scale(int64_t value, const char *from, const char *to, const char **unit)
{
    /* The negative of INT64_MIN does not exist: that one value is scaled as it is. */
    bool negative = value < 0 && value != INT64_MIN;
    double magnitude = (double)(negative ? -value : value);
    for (size_t i = 0; i < KIND_COUNT; i++) {
        const struct unit *source = unit_find(kinds[i].units, from);
        if (source == NULL)
            continue;
        double scaled = scale_in_kind(&kinds[i], magnitude * source->factor, to, unit);
        return negative ? -scaled : scaled;
    }
    *unit = is_plain(to) ? "" : to;
    return negative ? -magnitude : magnitude;
}

/* Appends as many whole UTF-8 characters of unit as there is room for. */
static void append_unit(char *text, size_t length, const char *unit)
{
    size_t room = QUANTITY_TEXT_SIZE - 1 - length;
    size_t count = strlen(unit);
    if (count > room) {
        count = room;
        while (count > 0 && ((unsigned char)unit[count] & 0xc0) == 0x80)
            count--;
    }
    memcpy(text + length, unit, count);
    text[length + count] = '\0';
}

char *quantity_text_in(int64_t value, const char *unit, const char *to,
                       char text[QUANTITY_TEXT_SIZE])
{
    const char *shown = "";
    double scaled = quantity_scale(value, unit, to, &shown);
    int printed = snprintf(text, QUANTITY_TEXT_SIZE, "%.2f", scaled);
    size_t length = printed > 0 ? (size_t)printed : 0;
    if (length >= QUANTITY_TEXT_SIZE)
        length = QUANTITY_TEXT_SIZE - 1;
    if (length > 3 && strcmp(text + length - 3, ".00") == 0)
        text[length -= 3] = '\0';
    if (strcmp(text, "0") == 0 || strcmp(text, "-0") == 0)
        return strcpy(text, "0");
    append_unit(text, length, shown);
    return text;
}

char *quantity_text(int64_t value, const char *unit, char text[QUANTITY_TEXT_SIZE])
{
    return quantity_text_in(value, unit, "auto", text);
}

/* 100 * value, wrapping around as the comparison with pprof needs. */
static int64_t times_hundred(int64_t value)
{
    return (int64_t)((uint64_t)value * 100u);
}

const char *quantity_common_unit(int64_t smallest, int64_t total, const char *unit)
{
    const char *smallest_unit = "";
    const char *total_unit = "";
    if (smallest == 0)
        smallest = total;
    quantity_scale(smallest, unit, "auto", &smallest_unit);
    quantity_scale(total, unit, "auto", &total_unit);
    /* Far apart: a larger unit keeps the report readable, and the smallest is still 0.01. */
    if (strcmp(smallest_unit, total_unit) != 0 && times_hundred(smallest) < total)
        quantity_scale(times_hundred(smallest), unit, "auto", &smallest_unit);
    return smallest_unit[0] != '\0' ? smallest_unit : unit;
}

char *quantity_percent(int64_t value, int64_t total, char text[QUANTITY_TEXT_SIZE])
{
    double percent = total != 0 ? fabs((double)value / (double)total) * 100 : 0;
    const char *format = "%5.2g%%";
    if (percent >= 99.95 && percent <= 100.05)
        return strcpy(text, "  100%");
    if (percent >= 1.0)
        format = "%5.2f%%";
    snprintf(text, QUANTITY_TEXT_SIZE, format, percent);
    return text;
}
