/* collector_jobs.c: from finished profiles to files, while the run goes on. */
#include "cli/collector_jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/collector_files.h"
#include "cli/collector_format.h"
#include "cli/collector_output.h"
#include "proto/error.h"
#include "proto/profile.h"

void job_free(struct job *job)
{
    if (!job)
        return;
    profile_free(job->profile);
    free(job->path);
    free(job->executable);
    free(job);
}

static void say(struct jobs *jobs, const char *line)
{
    jobs->say(jobs->context, line);
}

static void keep_result(struct jobs *jobs, int file)
{
    if (jobs->result >= 0)
        close(jobs->result);
    jobs->result = fcntl(file, F_DUPFD_CLOEXEC, 0);
}

/* The end of a job: what is in file gets its place. The profile is not needed any more. */
static void deliver(struct jobs *jobs, struct job *job, int file)
{
    struct error error = {0};
    char *place;
    bool ok = output_deliver(jobs->folder, job->path, file, &place, &error);
    char line[2048];
    if (!ok)
        snprintf(line, sizeof(line), "%s; the profile is lost", error.text);
    else if (error.text[0] != '\0')
        snprintf(line, sizeof(line), "%s; the profile is in %s", error.text, place);
    if (error.text[0] != '\0')
        say(jobs, line);
    free(job->path);
    job->path = place;
    if (jobs->keeps_result && job->is_command)
        keep_result(jobs, file);
    profile_free(job->profile);
    job->profile = NULL;
    job->next = jobs->written;
    jobs->written = job;
}

/* The file is made here and now, without names. */
static void write_plain(struct jobs *jobs, struct job *job)
{
    struct error error = {0};
    int file = memfd_create("heapprof-result", MFD_CLOEXEC);
    if (file < 0 && (errno == EMFILE || errno == ENFILE)) {
        files_shed(jobs->files);
        file = memfd_create("heapprof-result", MFD_CLOEXEC);
    }
    int copy = file >= 0 ? fcntl(file, F_DUPFD_CLOEXEC, 0) : -1;
    FILE *stream = copy >= 0 ? fdopen(copy, "w") : NULL;
    bool ok = stream && format_write(jobs->format, job->profile, stream, &error);
    if (stream)
        ok = fclose(stream) == 0 && ok;
    if (ok) {
        lseek(file, 0, SEEK_SET);
        deliver(jobs, job, file);
    } else {
        char line[2048];
        snprintf(line, sizeof(line), "%s: cannot be made: %s", job->path,
                 error.text[0] ? error.text : strerror(errno));
        say(jobs, line);
        job_free(job);
    }
    if (file >= 0)
        close(file);
}

/* Whether looking for names, or making the file, can take any time worth a process. */
static bool is_small(const struct job *job)
{
    return job->profile->location_count == 0;
}

static bool run(struct jobs *jobs, struct job *job, size_t place)
{
    if (!sandbox_start(&job->sandbox, jobs->format, job->profile, jobs->files, job->names))
        return false;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = job};
    if (epoll_ctl(jobs->epoll, EPOLL_CTL_ADD, job->sandbox.pidfd, &event) != 0) {
        sandbox_kill(&job->sandbox);
        return false;
    }
    jobs->running[place] = job;
    return true;
}

/* Takes the first job that may start off the list; NULL when there is none. */
static struct job *take_waiting(struct jobs *jobs, bool with_late)
{
    for (struct job **at = &jobs->waiting; *at; at = &(*at)->next) {
        struct job *job = *at;
        if (job->is_late && !with_late)
            continue;
        *at = job->next;
        return job;
    }
    return NULL;
}

void jobs_start(struct jobs *jobs, bool with_late)
{
    for (size_t place = 0; place < JOBS_AT_ONCE; place++) {
        struct job *job;
        while (!jobs->running[place] && (job = take_waiting(jobs, with_late)))
            if (is_small(job) || !run(jobs, job, place))
                write_plain(jobs, job);
    }
}

void jobs_add(struct jobs *jobs, struct job *job)
{
    job->names = jobs->no_symbolize ? SANDBOX_NO_NAMES : SANDBOX_ALL_NAMES;
    struct job **at = &jobs->waiting;
    while (*at && !job->is_command)
        at = &(*at)->next;
    job->next = *at;
    *at = job;
    jobs_start(jobs, false);
}

bool jobs_is_running(const struct jobs *jobs, const void *job)
{
    for (size_t i = 0; i < JOBS_AT_ONCE; i++)
        if (jobs->running[i] == job)
            return true;
    return false;
}

static void tell_failure(struct jobs *jobs, const struct job *job, const char *reason)
{
    static const char *const consequences[] = {
        [SANDBOX_ALL_NAMES] = "its names come from symbol tables only",
        [SANDBOX_SYMBOLS_ONLY] = "it has addresses, no names",
        [SANDBOX_NO_NAMES] = "trying once more",
    };
    char line[2048];
    snprintf(line, sizeof(line), "%s: looking up names %s: %s", job->path, reason,
             consequences[job->names]);
    say(jobs, line);
}

void jobs_ended(struct jobs *jobs, struct job *job)
{
    size_t place = 0;
    while (jobs->running[place] != job)
        place++;
    jobs->running[place] = NULL;
    epoll_ctl(jobs->epoll, EPOLL_CTL_DEL, job->sandbox.pidfd, NULL);
    int file;
    char reason[128];
    if (sandbox_finish(&job->sandbox, &file, &job->found, reason, sizeof(reason))) {
        deliver(jobs, job, file);
        close(file);
        return;
    }
    tell_failure(jobs, job, reason);
    bool more = job->names != SANDBOX_NO_NAMES;
    job->names++;
    if (!more || !run(jobs, job, place))
        write_plain(jobs, job);
}

bool jobs_pending(const struct jobs *jobs)
{
    for (size_t i = 0; i < JOBS_AT_ONCE; i++)
        if (jobs->running[i])
            return true;
    for (const struct job *job = jobs->waiting; job; job = job->next)
        if (!job->is_late)
            return true;
    return false;
}

void jobs_hurry(struct jobs *jobs, bool with_late)
{
    for (size_t i = 0; i < JOBS_AT_ONCE; i++) {
        struct job *job = jobs->running[i];
        jobs->running[i] = NULL;
        if (!job)
            continue;
        epoll_ctl(jobs->epoll, EPOLL_CTL_DEL, job->sandbox.pidfd, NULL);
        sandbox_kill(&job->sandbox);
        write_plain(jobs, job);
    }
    struct job *job;
    while ((job = take_waiting(jobs, with_late)))
        write_plain(jobs, job);
}

void jobs_progress(const struct jobs *jobs, uint64_t *done, uint64_t *total)
{
    *done = *total = 0;
    for (size_t i = 0; i < JOBS_AT_ONCE; i++) {
        if (!jobs->running[i])
            continue;
        const struct sandbox_progress *progress = jobs->running[i]->sandbox.progress;
        *done += __atomic_load_n(&progress->done, __ATOMIC_RELAXED);
        *total += __atomic_load_n(&progress->total, __ATOMIC_RELAXED);
    }
}

static void free_list(struct job *job)
{
    while (job) {
        struct job *next = job->next;
        job_free(job);
        job = next;
    }
}

void jobs_close(struct jobs *jobs)
{
    for (size_t i = 0; i < JOBS_AT_ONCE; i++) {
        if (!jobs->running[i])
            continue;
        sandbox_kill(&jobs->running[i]->sandbox);
        job_free(jobs->running[i]);
    }
    free_list(jobs->waiting);
    free_list(jobs->written);
    if (jobs->keeps_result && jobs->result >= 0)
        close(jobs->result);
    *jobs = (struct jobs){.epoll = -1};
}
