/* report_inlining.h: which functions of a report were inlined into their callers. */
#ifndef HEAPPROF_CLI_REPORT_INLINING_H
#define HEAPPROF_CLI_REPORT_INLINING_H

#include <stdint.h>

struct report_nodes;
struct report_source;

/* Sets inlining of every node that is shown (is_shown), by its callers: the next node towards the
 * root that is shown and is not the function itself. A caller inlines a function when all its calls
 * are inlined; one that accounts for less than cutoff in sample type sample_type_index does not
 * count. */
void report_inlining_find(struct report_nodes *nodes, const struct report_source *source,
                          int sample_type_index, int64_t cutoff);

#endif
