/* collector_jobs.h: from finished profiles to files, while the run goes on.
 *
 * Each profile is a job: names are looked up and the file is made in a sandbox, then the file gets
 * its place. A sandbox that fails is followed by one that does less, at last by none. Profiles
 * without any address need no sandbox and are written at once. Used by one thread. */
#ifndef HEAPPROF_CLI_COLLECTOR_JOBS_H
#define HEAPPROF_CLI_COLLECTOR_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/collector_sandbox.h"
#include "cli/store_reader.h"

struct files;
struct profile;

/* One profile on its way, and what became of it. */
struct job {
    struct job *next;
    struct profile *profile; /* NULL once it is written */
    struct store_totals totals;
    char *path; /* the name it is to get, then the one it has; NULL when it could not be written */
    char *executable;
    uint32_t pid;
    bool is_command; /* the command's last image */
    bool is_late;    /* is to wait for jobs_start with late ones */
    enum sandbox_names names;
    struct sandbox sandbox; /* while running */
    struct sandbox_progress found;
};

enum { JOBS_AT_ONCE = 2 };

struct jobs {
    int epoll;  /* each running sandbox's pidfd is added with its job as data */
    int folder; /* relative names start here */
    const char *format;
    bool no_symbolize;
    struct files *files;
    struct job *waiting;               /* in the order of their coming, the command's first */
    struct job *running[JOBS_AT_ONCE]; /* NULL: free */
    struct job *written;               /* the newest first */
    bool keeps_result;                 /* result is wanted */
    int result; /* of the command: a descriptor of all that its file was to hold; -1: not yet */
    void (*say)(void *context, const char *line); /* one line for the user */
    void *context;
};

/* Frees a job that was not added; NULL is accepted. */
void job_free(struct job *job);

/* Takes over job (allocated by heap_alloc, its texts too) and starts it as soon as possible. */
void jobs_add(struct jobs *jobs, struct job *job);

/* Starts what can be started; late jobs only when with_late is set. */
void jobs_start(struct jobs *jobs, bool with_late);

/* To be called when job's pidfd is readable. */
void jobs_ended(struct jobs *jobs, struct job *job);
/* Whether job is one of the running ones. */
bool jobs_is_running(const struct jobs *jobs, const void *job);

/* True while jobs that are not late wait or run. */
bool jobs_pending(const struct jobs *jobs);

/* Writes all that wait or run at once, without names; late ones too when with_late is set. */
void jobs_hurry(struct jobs *jobs, bool with_late);

/* Locations done and in all of what runs now. */
void jobs_progress(const struct jobs *jobs, uint64_t *done, uint64_t *total);

/* Kills what runs and frees everything. */
void jobs_close(struct jobs *jobs);

#endif
