/* pattern_class.h: sets of characters, as the classes of regular expressions build them up. */
#ifndef HEAPPROF_CLI_PATTERN_CLASS_H
#define HEAPPROF_CLI_PATTERN_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

#define PATTERN_LAST_CHARACTER 0x10ffffu

/* Both ends belong to the range. */
struct pattern_range {
    uint32_t first, last;
};

/* Ranges in any order, which may overlap; all memory is arena's. Begins as {.arena = arena}. */
struct pattern_class {
    struct pattern_range *ranges;
    size_t count, capacity;
    struct arena *arena;
};

/* Adds first to last (not before first); with ignore_case, their other cases in ASCII too. */
void pattern_class_add(struct pattern_class *set, uint32_t first, uint32_t last, bool ignore_case);

/* Turns the set into all characters that were not in it. */
void pattern_class_negate(struct pattern_class *set);

/* Adds what a letter behind a backslash stands for: \d \D \s \S \w \W. False for other letters. */
bool pattern_class_add_letter(struct pattern_class *set, char letter);

/* Adds a class by the name between "[:" and ":]" ("alpha", "^alpha"). False for unknown names. */
bool pattern_class_add_named(struct pattern_class *set, const char *name, size_t length,
                             bool ignore_case);

#endif
