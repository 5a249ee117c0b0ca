/* run_leaks.c: `heapprof run --leaks`: what the command has left, told at the end of the run.
 *
 * The report is that of `heapprof leaks`, made of the bytes that went to the output: they may have
 * gone into a pipe, and can be read from here only. */
#include "cli/run_leaks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/collector_jobs.h"
#include "cli/command.h"
#include "cli/leak_report.h"
#include "cli/leak_stacks.h"
#include "cli/suppressions.h"
#include "proto/error.h"
#include "proto/pprof.h"
#include "proto/profile.h"

bool run_leaks_check(const struct run_leaks *leaks, const char *format, struct error *error)
{
    if (!leaks->is_wanted && leaks->suppressions_path) {
        error_set(error, "--suppressions", "only together with --leaks");
        return false;
    }
    if (!leaks->is_wanted && leaks->fail_above != UINT64_MAX) {
        error_set(error, "--fail-above", "only together with --leaks");
        return false;
    }
    if (leaks->is_wanted && format && strcmp(format, "pprof") != 0) {
        error_set(error, "--leaks", "only with --format=pprof: a %s file does not hold enough",
                  format);
        return false;
    }
    return true;
}

bool run_leaks_open(struct run_leaks *leaks, struct error *error)
{
    if (!leaks->suppressions_path)
        return true;
    leaks->suppressions = suppressions_read(leaks->suppressions_path, error);
    return leaks->suppressions != NULL;
}

void run_leaks_done(struct run_leaks *leaks)
{
    suppressions_free(leaks->suppressions);
}

/* The profile in the file that result refers to, wherever in it that is. */
static struct profile *read_result(int result, struct error *error)
{
    struct stat st;
    size_t size = fstat(result, &st) == 0 ? (size_t)st.st_size : 0;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, result, 0);
    if (bytes == MAP_FAILED) {
        error_set_errno(error, "--leaks", errno, "the profile cannot be read again");
        return NULL;
    }
    struct profile *profile = pprof_decode(bytes, size, "--leaks", error);
    munmap(bytes, size);
    return profile;
}

/* Child processes have profiles, and leaks, of their own. */
static void tell_others(const struct job *files)
{
    size_t count = 0;
    const struct job *other = NULL;
    for (const struct job *job = files; job; job = job->next) {
        if (job->is_command || !job->path)
            continue;
        other = job;
        count++;
    }
    if (count == 1)
        fprintf(stderr, "\nnot looked at: a child process; see heapprof leaks %s\n", other->path);
    else if (count > 1)
        fprintf(stderr, "\nnot looked at: %zu child processes; see heapprof leaks %s and others\n",
                count, other->path);
}

int run_leaks_report(const struct run_leaks *leaks, int result, const struct job *files)
{
    struct error error = {0};
    struct profile *profile = NULL;
    if (!leaks->is_wanted)
        return STATUS_OK;
    if (result >= 0) {
        profile = read_result(result, &error);
        close(result);
    } else {
        error_set(&error, "--leaks", "without a profile there is nothing to tell");
    }
    if (!profile) {
        command_fail(STATUS_FAILED, &error);
        return leaks->fail_above != UINT64_MAX ? STATUS_FAILED : STATUS_OK;
    }
    struct leak_stacks stacks;
    struct leak_report_options options = leak_report_options_default();
    leak_stacks_init(&stacks, profile, profile_sample_type_index(profile, "inuse_space"),
                     leaks->suppressions);
    fputc('\n', stderr);
    leak_report_print(&stacks, profile, leaks->suppressions, &options, stderr);
    tell_others(files);
    int status = leak_stacks_exceed(&stacks, leaks->fail_above) ? STATUS_LEAKS : STATUS_OK;
    leak_stacks_done(&stacks);
    profile_free(profile);
    return status;
}
