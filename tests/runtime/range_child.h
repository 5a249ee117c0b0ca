/* range_child.h: running a piece of a range test in a process of its own.
 *
 * A process has one range, and a test wants it fresh, or under a resource limit, or with the
 * private mimalloc; so each test body runs in a forked child, checks with CHECK, and ends by
 * returning. */
#ifndef HEAPPROF_TESTS_RUNTIME_RANGE_CHILD_H
#define HEAPPROF_TESTS_RUNTIME_RANGE_CHILD_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/hook_range.h"

/* Ends the child when the condition does not hold. Also usable in its threads and children. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

enum { CHILD_SECONDS = 120 }; /* a child that hangs is killed by its alarm, and its test fails */

static inline void run_in_child(void (*body)(void))
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* not to cmocka's handler, which goes on with the next test */
        signal(SIGBUS, SIG_DFL);
        signal(SIGABRT, SIG_DFL);
        alarm(CHILD_SECONDS);
        body();
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* The private mimalloc as the build makes it: two folders above the test's own. */
static inline const char *mimalloc_path(void)
{
    static char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
    CHECK(length > 0);
    path[length] = 0;
    for (int up = 0; up < 3; up++) {
        char *slash = strrchr(path, '/');
        CHECK(slash != NULL);
        *slash = 0;
    }
    strcat(path, "/libheapprof-mimalloc.so");
    return path;
}

static inline void start_slabs(void)
{
    CHECK(range_reserve());
}

static inline void start_mimalloc(void)
{
    CHECK(range_reserve());
    CHECK(range_use_mimalloc(mimalloc_path(), false));
}

/* Frees p as the interposed free does. */
static inline void free_in_range(void *p)
{
    struct range_record *record = range_record_of(p);
    CHECK(record != NULL);
    CHECK(range_begin_free(record));
    range_free(p, record);
}

static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13; /* Marsaglia, Xorshift RNGs, 2003 */
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A line of /proc/self/status or the like, in KiB. */
static inline long status_kib(const char *name)
{
    char line[256];
    long value = -1;
    FILE *file = fopen("/proc/self/status", "r");
    CHECK(file != NULL);
    while (value < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtol(line + strlen(name) + 1, NULL, 10);
    fclose(file);
    CHECK(value >= 0);
    return value;
}

/* Every page of the range belongs to some mapping, so no foreign one can come in. */
static inline void check_no_hole(void)
{
    char line[512];
    uintptr_t at = range_base;
    FILE *file = fopen("/proc/self/maps", "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        char *end;
        uintptr_t start = strtoul(line, &end, 16), limit = strtoul(end + 1, NULL, 16);
        if (limit <= at || at >= range_end)
            continue;
        CHECK(start <= at);
        at = limit;
    }
    fclose(file);
    CHECK(at >= range_end);
}

static inline long page_faults(void)
{
    struct rusage usage;
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    return usage.ru_minflt;
}

#endif
