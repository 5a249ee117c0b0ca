/* collector_jobs_test.c: profiles become files, also when a sandbox dies. */
#include "cli/collector_jobs.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/collector_files.h"
#include "proto/arena.h"
#include "proto/error.h"
#include "proto/pprof.h"
#include "proto/profile.h"

static char folder[64];
static char said[4096];
static struct files files;
static struct jobs jobs;

static void say(void *context, const char *line)
{
    (void)context;
    size_t length = strlen(said);
    snprintf(said + length, sizeof(said) - length, "%s\n", line);
}

static int jobs_open(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/collector_jobs_test-XXXXXX");
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return -1;
    said[0] = '\0';
    files_init(&files, 16);
    jobs = (struct jobs){
        .epoll = epoll_create1(EPOLL_CLOEXEC), .folder = AT_FDCWD, .files = &files, .say = say};
    return 0;
}

static int jobs_done(void **state)
{
    (void)state;
    close(jobs.epoll);
    jobs_close(&jobs);
    files_close(&files);
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

/* A profile that takes a sandbox much longer than the test takes to kill it. */
static struct profile *make_profile(uint64_t locations)
{
    struct profile *profile = profile_new();
    profile_add_sample_type(profile, "peak_space", "bytes");
    for (uint64_t i = 0; i < locations; i++) {
        struct profile_location *location = profile_location(profile, NULL, 4096 + i);
        int64_t value = 1;
        profile_add_sample(profile, &location, 1, &value);
    }
    return profile;
}

static struct job *add_job(const char *path, uint64_t locations)
{
    struct job *job = heap_alloc(sizeof(*job));
    *job = (struct job){.profile = make_profile(locations),
                        .path = heap_text(path),
                        .executable = heap_text("/bin/app"),
                        .pid = 1};
    jobs_add(&jobs, job);
    return job;
}

/* Waits for the next sandbox to end and deals with it. */
static void serve_one(void)
{
    struct epoll_event event;
    assert_int_equal(epoll_wait(jobs.epoll, &event, 1, 60000), 1);
    jobs_ended(&jobs, event.data.ptr);
    jobs_start(&jobs, false);
}

static void assert_profile(const char *path, size_t samples)
{
    struct error error;
    struct profile *profile = pprof_read_file(path, &error);
    assert_non_null(profile);
    assert_int_equal(profile->sample_count, samples);
    profile_free(profile);
}

static void a_profile_becomes_a_file(void **state)
{
    (void)state;
    add_job("a.prof", 10);
    assert_true(jobs_pending(&jobs));
    serve_one();
    assert_false(jobs_pending(&jobs));
    assert_profile("a.prof", 10);
    assert_string_equal(jobs.written->path, "a.prof");
    assert_string_equal(said, "");
}

static void a_crash_costs_names_only(void **state)
{
    (void)state;
    const struct job *job = add_job("a.prof", 100000);
    kill(job->sandbox.child, SIGKILL);
    serve_one();
    assert_non_null(strstr(said, "a.prof: looking up names crashed (signal 9): "
                                 "its names come from symbol tables only\n"));
    kill(job->sandbox.child, SIGXCPU);
    serve_one();
    assert_non_null(strstr(said, "took too long: it has addresses, no names\n"));
    kill(job->sandbox.child, SIGKILL);
    serve_one(); /* the last attempt is our own */
    assert_false(jobs_pending(&jobs));
    assert_profile("a.prof", 100000);
}

static void in_a_hurry_all_is_written_at_once(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        char path[32];
        snprintf(path, sizeof(path), "%d.prof", i);
        add_job(path, 20000);
    }
    jobs_hurry(&jobs, false);
    assert_false(jobs_pending(&jobs));
    for (int i = 0; i < 4; i++) {
        char path[32];
        snprintf(path, sizeof(path), "%d.prof", i);
        assert_profile(path, 20000);
    }
}

static void late_jobs_wait(void **state)
{
    (void)state;
    struct job *job = heap_alloc(sizeof(*job));
    *job = (struct job){.profile = make_profile(3),
                        .path = heap_text("late.prof"),
                        .executable = heap_text(""),
                        .is_late = true};
    jobs_add(&jobs, job);
    assert_false(jobs_pending(&jobs));
    assert_int_equal(access("late.prof", F_OK), -1);
    job->is_late = false;
    jobs_start(&jobs, true);
    serve_one();
    assert_profile("late.prof", 3);
}

static void a_profile_without_addresses_needs_no_sandbox(void **state)
{
    (void)state;
    add_job("empty.prof", 0);
    assert_false(jobs_pending(&jobs));
    assert_profile("empty.prof", 0);
}

static void a_file_without_a_place_goes_to_tmpdir(void **state)
{
    (void)state;
    setenv("TMPDIR", folder, 1);
    add_job("no/such/folder/a.prof", 0);
    unsetenv("TMPDIR");
    assert_non_null(strstr(said, "no/such/folder/a.prof: cannot be written: "));
    assert_non_null(strstr(said, "; the profile is in "));
    assert_memory_equal(jobs.written->path, folder, strlen(folder));
    assert_profile(jobs.written->path, 0);
}

int main(void)
{
#define WITH_JOBS(test) cmocka_unit_test_setup_teardown(test, jobs_open, jobs_done)
    const struct CMUnitTest tests[] = {
        WITH_JOBS(a_profile_becomes_a_file),
        WITH_JOBS(a_crash_costs_names_only),
        WITH_JOBS(in_a_hurry_all_is_written_at_once),
        WITH_JOBS(late_jobs_wait),
        WITH_JOBS(a_profile_without_addresses_needs_no_sandbox),
        WITH_JOBS(a_file_without_a_place_goes_to_tmpdir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
