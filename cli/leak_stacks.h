/* leak_stacks.h: what is in use in a profile, stack by stack, and who has asked not to hear of it.
 *
 * Samples whose frames read the same are one stack, whatever their labels and addresses. Stacks
 * that hold nothing, or less than nothing (profiles that are differences), are left out everywhere.
 */
#ifndef HEAPPROF_CLI_LEAK_STACKS_H
#define HEAPPROF_CLI_LEAK_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/text_table.h"

struct arena;
struct profile;
struct suppressions;

/* Sums stay at INT64_MAX where they are larger. */
struct leak_sum {
    int64_t bytes, objects; /* in use */
    double variance;        /* of bytes, in bytes squared; 0 when it is not known */
    double age_sum;         /* nanoseconds times objects; 0 when it is not known */
    double live_objects;    /* objects, not rounded */
    int64_t samples;        /* sampled objects; 0 when that is not known */
    size_t stacks;
};

/* Adds more to *sum. */
void leak_sum_add(struct leak_sum *sum, const struct leak_sum *more);

struct leak_stack {
    struct leak_sum sum;
    size_t suppression; /* index into the suppressions; their count: none */
    uint32_t depth;
    uint32_t frames[]; /* indices into texts, innermost first */
};

struct leak_stacks {
    struct arena *arena;
    struct text_table texts;    /* frames: "function file:line", "function (module)", "module+0x12";
                                   they may hold anything */
    struct leak_stack **stacks; /* those that are not suppressed, most bytes first */
    size_t count;
    struct leak_sum total;      /* of these */
    struct leak_sum suppressed; /* of the others */
    struct leak_sum *used;      /* by suppression */
    bool has_objects;           /* the profile counts objects */
    const char *unit;           /* of bytes, as the profile has it */
};

/* Fills *leaks from the values of sample type bytes_index (valid in profile), with the objects of
 * "inuse_objects" where there are any. A stack is suppressed by the first suppression that matches
 * one of its frames, from the innermost out: the module, then each function (as it is shown, as it
 * is linked, and as C++ spells it in full) and its source file. suppressions may be NULL. profile
 * and suppressions must outlive *leaks, which ends with leak_stacks_done. */
void leak_stacks_init(struct leak_stacks *leaks, const struct profile *profile, int bytes_index,
                      const struct suppressions *suppressions);
void leak_stacks_done(struct leak_stacks *leaks);

/* Whether more than limit bytes are in use and not suppressed; with a limit of 0, whether any
 * object is, of whatever size. */
bool leak_stacks_exceed(const struct leak_stacks *leaks, uint64_t limit);

#endif
