/* pattern_class.c: sets of characters, as the classes of regular expressions build them up.
 *
 * A class is a handful of ranges: a list that is sorted only when it has to be negated is all it
 * takes. Source of the names: https://github.com/google/re2/wiki/Syntax */
#include "cli/pattern_class.h"

#include "proto/arena.h"

#include <string.h>

struct named_class {
    const char *name;
    struct pattern_range ranges[4];
    size_t count;
};

static const struct named_class named_classes[] = {
    {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}, 3},
    {"alpha", {{'A', 'Z'}, {'a', 'z'}}, 2},
    {"ascii", {{0, 0x7f}}, 1},
    {"blank", {{'\t', '\t'}, {' ', ' '}}, 2},
    {"cntrl", {{0, 0x1f}, {0x7f, 0x7f}}, 2},
    {"digit", {{'0', '9'}}, 1},
    {"graph", {{'!', '~'}}, 1},
    {"lower", {{'a', 'z'}}, 1},
    {"print", {{' ', '~'}}, 1},
    {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}, 4},
    {"space", {{'\t', '\r'}, {' ', ' '}}, 2},
    {"upper", {{'A', 'Z'}}, 1},
    {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}, 4},
    {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}, 3},
};

/* \d \s \w; the letter is the name. \s, other than [:space:], does not hold the vertical tab. */
static const struct named_class letter_classes[] = {
    {"d", {{'0', '9'}}, 1},
    {"s", {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}, 3},
    {"w", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}, 4},
};

static void add_range(struct pattern_class *set, uint32_t first, uint32_t last)
{
    if (set->count == set->capacity) {
        size_t capacity = set->capacity == 0 ? 4 : set->capacity * 2;
        struct pattern_range *ranges = arena_array(set->arena, capacity, sizeof(*ranges));
        if (set->count > 0)
            memcpy(ranges, set->ranges, set->count * sizeof(*ranges));
        set->ranges = ranges;
        set->capacity = capacity;
    }
    set->ranges[set->count++] = (struct pattern_range){first, last};
}

/* Adds the part of [first, last] that is in [from, to], moved by distance. */
static void add_moved(struct pattern_class *set, uint32_t first, uint32_t last, uint32_t from,
                      uint32_t to, int distance)
{
    uint32_t low = first > from ? first : from;
    uint32_t high = last < to ? last : to;
    if (low <= high)
        add_range(set, (uint32_t)((int)low + distance), (uint32_t)((int)high + distance));
}

void pattern_class_add(struct pattern_class *set, uint32_t first, uint32_t last, bool ignore_case)
{
    add_range(set, first, last);
    if (!ignore_case)
        return;
    add_moved(set, first, last, 'A', 'Z', 'a' - 'A');
    add_moved(set, first, last, 'a', 'z', 'A' - 'a');
}

/* Insertion sort: the ranges are few, and nearly always in order. */
static void sort_ranges(struct pattern_class *set)
{
    for (size_t i = 1; i < set->count; i++) {
        struct pattern_range range = set->ranges[i];
        size_t j = i;
        for (; j > 0 && set->ranges[j - 1].first > range.first; j--)
            set->ranges[j] = set->ranges[j - 1];
        set->ranges[j] = range;
    }
}

void pattern_class_negate(struct pattern_class *set)
{
    struct pattern_class result = {.arena = set->arena};
    uint32_t next = 0; /* the first character not yet decided */
    sort_ranges(set);
    for (size_t i = 0; i < set->count; i++) {
        if (set->ranges[i].first > next)
            add_range(&result, next, set->ranges[i].first - 1);
        if (set->ranges[i].last >= next)
            next = set->ranges[i].last + 1;
    }
    if (next <= PATTERN_LAST_CHARACTER)
        add_range(&result, next, PATTERN_LAST_CHARACTER);
    *set = result;
}

static void add_class(struct pattern_class *set, const struct named_class *class, bool negated,
                      bool ignore_case)
{
    struct pattern_class part = {.arena = set->arena};
    for (size_t i = 0; i < class->count; i++)
        pattern_class_add(&part, class->ranges[i].first, class->ranges[i].last, ignore_case);
    if (negated)
        pattern_class_negate(&part);
    for (size_t i = 0; i < part.count; i++)
        add_range(set, part.ranges[i].first, part.ranges[i].last);
}

bool pattern_class_add_letter(struct pattern_class *set, char letter)
{
    for (size_t i = 0; i < sizeof(letter_classes) / sizeof(letter_classes[0]); i++) {
        char lower = letter_classes[i].name[0];
        if (letter != lower && letter != lower - 'a' + 'A')
            continue;
        add_class(set, &letter_classes[i], letter != lower, false);
        return true;
    }
    return false;
}

bool pattern_class_add_named(struct pattern_class *set, const char *name, size_t length,
                             bool ignore_case)
{
    bool negated = length > 0 && name[0] == '^';
    name += negated;
    length -= negated;
    for (size_t i = 0; i < sizeof(named_classes) / sizeof(named_classes[0]); i++) {
        if (strlen(named_classes[i].name) != length ||
            memcmp(named_classes[i].name, name, length) != 0)
            continue;
        add_class(set, &named_classes[i], negated, ignore_case);
        return true;
    }
    return false;
}
