/* collector.c: serves the processes of a run and turns what they recorded into files: the loop.
 *
 * One epoll set holds the socket, its clients, the store's wake, a pidfd for each process and one
 * for each sandbox. Events are taken one at a time: what an event does may free what another one
 * would be about. */
#include "cli/collector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cli/collector_proc.h"
#include "cli/collector_state.h"
#include "proto/arena.h"
#include "proto/error.h"

enum {
    POLL_MS = 100,        /* between looks at processes that have no pidfd */
    EVENTS_PER_TURN = 64, /* so that the caller's signals get their turn */
    LAST_TURNS = 64,      /* for what came in before the command's end */
    LEAST_FILES = 16
};

uint64_t collector_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Half of the descriptors that we may have are for modules' files. */
static size_t file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return LEAST_FILES;
    uint64_t half = limit.rlim_max / 2; /* the launcher raises its limit to this */
    return half < LEAST_FILES ? LEAST_FILES : half > 4096 ? 4096 : (size_t)half;
}

static bool watch(struct collector *collector, int fd, void *tag, struct error *error)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = tag};
    if (epoll_ctl(collector->epoll, EPOLL_CTL_ADD, fd, &event) == 0)
        return true;
    error_set_errno(error, NULL, errno, "cannot watch a descriptor");
    return false;
}

static bool start(struct collector *collector, struct error *error)
{
    collector->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (collector->epoll < 0) {
        error_set_errno(error, NULL, errno, "cannot make an epoll set");
        return false;
    }
    return slots_open(&collector->slots, collector->options.slot_bytes, error) &&
           wake_start(&collector->wake, &collector->slots.directory->wake, -1, error) &&
           watch(collector, collector->wake.fd, &collector->wake, error) &&
           watch(collector, collector->options.listener, collector, error);
}

struct collector *collector_open(const struct collector_options *options, struct error *error)
{
    struct collector *collector = heap_alloc(sizeof(*collector));
    *collector = (struct collector){
        .options = *options,
        .epoll = -1,
        .slots = {.fd = -1},
        .wake = {.fd = -1},
        .jobs = {.folder = options->folder,
                 .format = options->format,
                 .no_symbolize = options->no_symbolize,
                 .keeps_result = options->keeps_result,
                 .result = -1,
                 .say = options->say,
                 .context = options->context},
        .sequence = 1, /* the command's */
    };
    files_init(&collector->files, file_limit());
    if (!start(collector, error)) {
        collector_close(collector);
        return NULL;
    }
    collector->jobs.epoll = collector->epoll;
    collector->jobs.files = &collector->files;
    collector->counts.slots = collector->slots.count;
    size_t count = collector->slots.count;
    collector->slot_seed = heap_alloc(count * sizeof(*collector->slot_seed));
    memset(collector->slot_seed, 0, count * sizeof(*collector->slot_seed));
    collector->slot_known = heap_alloc(count * sizeof(*collector->slot_known));
    memset(collector->slot_known, 0, count * sizeof(*collector->slot_known));
    collector->slot_claimed_ns = heap_alloc(count * sizeof(*collector->slot_claimed_ns));
    memset(collector->slot_claimed_ns, 0, count * sizeof(*collector->slot_claimed_ns));
    collector->slot_program = heap_alloc(count * sizeof(*collector->slot_program));
    memset(collector->slot_program, 0, count * sizeof(*collector->slot_program));
    return collector;
}

static void free_processes(struct collector *collector)
{
    while (collector->processes) {
        struct process *process = collector->processes;
        collector->processes = process->next;
        if (process->pidfd >= 0)
            close(process->pidfd);
        image_free(&process->image);
        free(process);
    }
}

void collector_close(struct collector *collector)
{
    if (!collector)
        return;
    jobs_close(&collector->jobs);
    hello_close(collector);
    free_processes(collector);
    wake_stop(&collector->wake);
    if (collector->wake.fd >= 0)
        close(collector->wake.fd);
    files_close(&collector->files);
    for (uint32_t slot = 0; collector->slot_program && slot < collector->slots.count; slot++)
        free(collector->slot_program[slot]);
    free(collector->slot_program);
    slots_close(&collector->slots);
    if (collector->epoll >= 0)
        close(collector->epoll);
    free(collector->slot_seed);
    free(collector->slot_known);
    free(collector->slot_claimed_ns);
    free(collector);
}

int collector_fd(const struct collector *collector)
{
    return collector->epoll;
}

void collector_follow(struct collector *collector, pid_t command)
{
    collector->command = command;
}

static bool is_process(const struct collector *collector, const void *pointer)
{
    for (const struct process *process = collector->processes; process; process = process->next)
        if (process == pointer)
            return true;
    return false;
}

static void handle(struct collector *collector, void *tag)
{
    if (tag == collector) {
        hello_accept(collector);
    } else if (tag == &collector->wake) {
        wake_clear(&collector->wake);
        images_scan(collector);
    } else if (jobs_is_running(&collector->jobs, tag)) {
        jobs_ended(&collector->jobs, tag);
        jobs_start(&collector->jobs, false);
    } else if (hello_is_client(collector, tag)) {
        hello_read(collector, tag);
    } else if (is_process(collector, tag)) {
        images_scan(collector); /* its children's names may hang on it */
        process_end(collector, tag);
    }
}

/* Handles what is ready; true when that was all. */
static bool drain(struct collector *collector)
{
    for (int events = 0; events < EVENTS_PER_TURN; events++) {
        struct epoll_event event;
        int got = epoll_wait(collector->epoll, &event, 1, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return true;
        handle(collector, event.data.ptr);
    }
    return false;
}

static int sooner(int a, int b)
{
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

int collector_turn(struct collector *collector)
{
    bool all = drain(collector);
    images_poll(collector);
    int left = sooner(hello_expire(collector), images_watch(collector));
    for (const struct process *process = collector->processes; process; process = process->next)
        if (process->pidfd < 0)
            left = sooner(left, POLL_MS);
    return all ? left : 0;
}

void collector_command_ended(struct collector *collector)
{
    for (int turns = 0; turns < LAST_TURNS && !drain(collector); turns++)
        continue;
    images_scan(collector);
    struct process *command = process_find(collector, collector->command);
    if (command && command->is_command)
        process_end(collector, command);
    collector->command_ended = true;
}

void collector_leave_rest(struct collector *collector)
{
    collector->leaves_rest = true;
}

bool collector_is_busy(const struct collector *collector)
{
    return jobs_pending(&collector->jobs);
}

void collector_hurry(struct collector *collector)
{
    if (!collector->options.no_symbolize && jobs_pending(&collector->jobs))
        collector->options.say(collector->options.context,
                               "interrupted: the profile is written without names");
    jobs_hurry(&collector->jobs, false);
}

void collector_progress(const struct collector *collector, uint64_t *done, uint64_t *total)
{
    jobs_progress(&collector->jobs, done, total);
}

/* --- followed processes that outlive the command -------------------------------------------- */

static bool is_known(const void *context, pid_t pid)
{
    const struct collector *collector = context;
    return pid == collector->command || process_find(collector, pid) != NULL;
}

/* A process between its exec and its hello is in no list, but it has our environment. */
static bool has_starting(struct collector *collector)
{
    pid_t pid =
        proc_find_environment(collector->command, collector->options.socket, is_known, collector);
    if (pid == 0)
        return false;
    process_add(collector, pid);
    return true;
}

/* A forked child that has not recorded anything is seen by its mapping of the store alone. */
static bool has_silent(struct collector *collector)
{
    wake_stop(&collector->wake);
    if (!slots_in_use(&collector->slots))
        return false;
    images_scan(collector); /* it may have come in between */
    return wake_start(&collector->wake, &collector->slots.directory->wake, collector->wake.fd,
                      NULL);
}

bool collector_has_followers(struct collector *collector)
{
    if (collector->processes || collector->clients)
        return true;
    if (collector->options.no_follow || !collector->slots.directory)
        return false;
    if (has_starting(collector))
        return true;
    return has_silent(collector) || collector->processes;
}

void collector_start_late(struct collector *collector)
{
    collector->leaves_rest = false;
    for (struct job *job = collector->jobs.waiting; job; job = job->next)
        job->is_late = false;
    jobs_start(&collector->jobs, true);
}

bool collector_take_over(struct collector *collector, struct error *error)
{
    collector->wake.is_running = false; /* the thread stayed with the parent */
    if (!slots_map(&collector->slots, error) ||
        !wake_start(&collector->wake, &collector->slots.directory->wake, collector->wake.fd, error))
        return false;
    images_scan(collector);
    collector_start_late(collector);
    return true;
}

void collector_cut(struct collector *collector)
{
    for (struct process *process = collector->processes; process; process = process->next)
        process_cut(collector, process);
    collector_start_late(collector);
}

uint32_t collector_living(const struct collector *collector)
{
    uint32_t count = 0;
    for (const struct process *process = collector->processes; process; process = process->next)
        count++;
    return count;
}

bool collector_has_met_command(const struct collector *collector)
{
    return collector->met_command;
}

const struct job *collector_written(const struct collector *collector)
{
    return collector->jobs.written;
}

int collector_take_result(struct collector *collector)
{
    int result = collector->jobs.result;
    collector->jobs.result = -1;
    return result;
}

void collector_counts(const struct collector *collector, struct collector_counts *counts)
{
    *counts = collector->counts;
    counts->without_slot += counts->without_slot_forked;
}
