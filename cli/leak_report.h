/* leak_report.h: what is in use, as text, by stack, the largest first.
 *
 *     app, pid 4711
 *     live at exit: 8.10MB ± 1.02MB in 49951 objects, 2 stacks
 *
 *     8MB ± 1MB in 49940 objects, 98.77%, mean age 312.20ms
 *         #0 remember_visitor /src/bookshop.c:120
 *         #1 main /src/bookshop.c:270
 */
#ifndef HEAPPROF_CLI_LEAK_REPORT_H
#define HEAPPROF_CLI_LEAK_REPORT_H

#include <stdint.h>
#include <stdio.h>

struct leak_stacks;
struct profile;
struct suppressions;

struct leak_report_options {
    uint64_t stack_count; /* at most so many; 0 for no limit */
    uint64_t frame_count; /* of each; 0 for no limit */
    uint64_t min_bytes;   /* stacks with less are left out */
};

/* What is shown unless somebody asks for something else. */
struct leak_report_options leak_report_options_default(void);

/* Prints *leaks, which were made of profile and suppressions (NULL: none), to stream. What was left
 * out is told, and so are suppressions that were used, and that matched nothing. Errors stay in
 * stream. */
void leak_report_print(const struct leak_stacks *leaks, const struct profile *profile,
                       const struct suppressions *suppressions,
                       const struct leak_report_options *options, FILE *stream);

#endif
