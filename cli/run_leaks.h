/* run_leaks.h: `heapprof run --leaks`: what the command has left, told at the end of the run. */
#ifndef HEAPPROF_CLI_RUN_LEAKS_H
#define HEAPPROF_CLI_RUN_LEAKS_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct job;
struct suppressions;

/* The options of a run that have to do with leaks. */
struct run_leaks {
    bool is_wanted;
    const char *suppressions_path; /* NULL: none */
    uint64_t fail_above;           /* bytes; UINT64_MAX: never */
    struct suppressions *suppressions;
};

/* Whether the options fit each other, and the format that the run writes. False with *error. */
bool run_leaks_check(const struct run_leaks *leaks, const char *format, struct error *error);

/* Before the run: reads the suppressions. False with *error. */
bool run_leaks_open(struct run_leaks *leaks, struct error *error);
void run_leaks_done(struct run_leaks *leaks);

/* After the run: prints the report on stderr. result is a descriptor of the command's whole profile
 * in pprof format, or -1; it is closed here. files are those that were written. The exit status
 * that follows from it is returned: what cannot be looked at is no success where --fail-above asks
 * for one. */
int run_leaks_report(const struct run_leaks *leaks, int result, const struct job *files);

#endif
