/* summary.h: what a run says at its end, on stderr.
 *
 *     heapprof: ./app ran 2.31s
 *       peak heap     1.02GB ± 31.20MB, after 2.20s
 *       allocated     5.01GB ± 0.10GB
 *       counted       5.03GB; allocated is 0.40% off, up to 1.99% was expected
 *       still in use  12MB ± 5MB or more
 *       peak RSS      1.10GB
 *       samples       10013 (one in 512kB)
 *       allocator     tcmalloc (/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4)
 *       lost          3 stacks cut at the depth limit
 *       wrote         heap.prof
 *       next          heapprof top heap.prof
 */
#ifndef HEAPPROF_CLI_SUMMARY_H
#define HEAPPROF_CLI_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/collector.h"

struct allocator_choice;

struct summary {
    const char *command; /* as given */
    const char *format;  /* NULL: pprof */
    uint64_t run_ns;     /* from start to end of the command */
    uint64_t rate;       /* bytes */
    const struct allocator_choice *allocator;
    const struct job *files; /* newest first */
    struct collector_counts counts;
    uint32_t living; /* followed processes that go on */
    bool has_unseen; /* there may be more of them */
    bool is_verbose;
};

/* Prints the summary to stream. */
void summary_print(const struct summary *summary, FILE *stream);

#endif
