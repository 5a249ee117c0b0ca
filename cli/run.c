/* run.c: heapprof run: starts a command, profiles it and writes its profile.
 *
 * Here is the order of events and what is said to the user; the work is done by launch_* (the
 * command), collector_* (profiles) and run_* (waiting). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/allocator_choice.h"
#include "cli/collector_format.h"
#include "cli/collector_names.h"
#include "cli/collector_slots.h"
#include "cli/command.h"
#include "cli/option.h"
#include "cli/output_file.h"
#include "cli/run_leaks.h"
#include "cli/run_session.h"
#include "cli/summary.h"
#include "cli/target_check.h"
#include "cli/tsc_clock.h"
#include "proto/arena.h"
#include "proto/error.h"

enum {
    STATUS_NOT_EXECUTABLE = 126, /* as env(1), timeout(1) and the shells have it */
    STATUS_NOT_FOUND = 127,
    NOTES_PRINTED = 20
};

#define DEFAULT_RATE (512ull << 10)
#define DEFAULT_TEMPORARY_NS 1000000ull

struct run_options {
    const char *output;
    uint64_t rate;
    const char *allocator;
    struct allocator_choice chosen; /* what allocator says */
    const char *format;
    bool threads;
    bool sizes;
    bool no_follow;
    bool no_symbolize;
    uint64_t max_memory;
    const char *seed_text;
    uint64_t seed;
    uint64_t temporary_ns;
    struct run_leaks leaks;
    bool quiet;
    bool verbose;
};

#define TO(field) offsetof(struct run_options, field)

static const struct option_row run_rows[] = {
    {'o', "output", "FILE", OPTION_TEXT, TO(output),
     "write the profile to FILE; %p is the pid, %e the program, %n a number", NULL},
    {'r', "rate", "SIZE", OPTION_SIZE, TO(rate),
     "sample every SIZE bytes on average (default 512K; 1 records all)", NULL},
    {0, "allocator", "NAME", OPTION_TEXT, TO(allocator),
     "what to run on: system (default), mimalloc, jemalloc, tcmalloc, a path", NULL},
    {0, "format", "NAME", OPTION_CHOICE, TO(format), "pprof, folded or svg (default pprof)",
     format_names},
    {0, "threads", NULL, OPTION_FLAG, TO(threads), "label each sample with its thread", NULL},
    {0, "sizes", NULL, OPTION_FLAG, TO(sizes), "label each sample with its size class", NULL},
    {0, "no-follow", NULL, OPTION_FLAG, TO(no_follow), "do not profile child processes", NULL},
    {0, "no-symbolize", NULL, OPTION_FLAG, TO(no_symbolize), "write addresses, look up no names",
     NULL},
    {0, "max-memory", "SIZE", OPTION_SIZE, TO(max_memory),
     "shared memory for the profile of one process (default 64M)", NULL},
    {0, "seed", "N", OPTION_TEXT, TO(seed_text), "seed of the sampling (default random)", NULL},
    {0, "temporary-threshold", "TIME", OPTION_DURATION, TO(temporary_ns),
     "an allocation freed within TIME is a temporary one (default 1ms)", NULL},
    {0, "leaks", NULL, OPTION_FLAG, TO(leaks.is_wanted),
     "show what the command has left, as `heapprof leaks` does", NULL},
    {0, "suppressions", "FILE", OPTION_TEXT, TO(leaks.suppressions_path),
     "with --leaks: leave out what FILE names (leak:PATTERN)", NULL},
    {0, "fail-above", "SIZE", OPTION_SIZE, TO(leaks.fail_above),
     "with --leaks: status 3 when more than SIZE is left (0: when anything is)", NULL},
    {'q', "quiet", NULL, OPTION_FLAG, TO(quiet), "print errors only, no summary", NULL},
    {'v', "verbose", NULL, OPTION_FLAG, TO(verbose), "print details in the summary", NULL},
    {0},
};

/* --- options ------------------------------------------------------------------------------- */

static bool parse_seed(struct run_options *options, struct error *error)
{
    if (!options->seed_text) {
        if (getrandom(&options->seed, sizeof(options->seed), 0) != (ssize_t)sizeof(options->seed))
            options->seed = (uint64_t)time(NULL) ^ (uint64_t)getpid() << 32;
        return true;
    }
    char *end;
    errno = 0;
    options->seed = strtoull(options->seed_text, &end, 0);
    if (options->seed_text[0] >= '0' && options->seed_text[0] <= '9' && *end == '\0' && errno == 0)
        return true;
    error_set(error, "--seed", "'%s' is not a number from 0 to %" PRIu64, options->seed_text,
              UINT64_MAX);
    return false;
}

static bool check_options(struct run_options *options, struct error *error)
{
    if (options->rate == 0) {
        error_set(error, "--rate", "the least rate is 1, which records every allocation");
        return false;
    }
    if (options->max_memory < STORE_MIN_SLOT_BYTES || options->max_memory > STORE_MAX_SLOT_BYTES) {
        error_set(error, "--max-memory", "from 1M to 16G");
        return false;
    }
    if (options->output && options->output[0] == '\0') {
        error_set(error, "--output", "no file is named");
        return false;
    }
    return run_leaks_check(&options->leaks, options->format, error) && parse_seed(options, error);
}

/* --- what is said --------------------------------------------------------------------------- */

static void add_note(void *context, const char *line)
{
    struct session *session = context;
    session->notes = heap_grow(session->notes, &session->note_capacity, session->note_count + 1,
                               sizeof(*session->notes));
    session->notes[session->note_count++] = heap_text(line);
}

static void print_notes(struct session *session)
{
    for (size_t i = 0; i < session->note_count; i++) {
        if (i < NOTES_PRINTED)
            fprintf(stderr, "heapprof: %s\n", session->notes[i]);
        free(session->notes[i]);
    }
    if (session->note_count > NOTES_PRINTED)
        fprintf(stderr, "heapprof: and %zu more such lines\n", session->note_count - NOTES_PRINTED);
    free(session->notes);
}

static const char *why_no_hello(const struct target_check *target,
                                const struct collector_counts *counts)
{
    if (!target->can_profile)
        return target->reason;
    if (counts->wrong_version != 0)
        return "was met by a runtime library of another version";
    if (counts->without_slot != 0)
        return "found no room in the store";
    if (counts->strangers != 0)
        return "runs as another user";
    if (counts->without_memory)
        return "has too little memory left for its profile (ulimit -v, -d); a smaller "
               "--max-memory may help";
    return "did not load the runtime library (no glibc program, or LD_PRELOAD was refused)";
}

/* The one line when there is no profile. names_next gives the file that would have been. */
static void tell_no_profile(const struct session *session, const struct target_check *target,
                            struct names *names, int folder)
{
    struct collector_counts counts;
    collector_counts(session->collector, &counts);
    char *path = names_next(names, &(struct names_of){.pid = (uint32_t)session->command,
                                                      .sequence = 1,
                                                      .is_command = true,
                                                      .executable = target->file});
    struct stat st;
    bool is_old = fstatat(folder, path, &st, 0) == 0 && S_ISREG(st.st_mode);
    fprintf(stderr, "heapprof: no profile: %s %s%s%s%s\n", target->file,
            why_no_hello(target, &counts), is_old ? "; " : "", is_old ? path : "",
            is_old ? " is an older one, left alone" : "");
    free(path);
}

static bool has_command_file(const struct session *session)
{
    return collector_has_met_command(session->collector);
}

/* --- the run ------------------------------------------------------------------------------- */

static int fail_to_execute(const char *command, int failure)
{
    struct error error;
    bool missing = failure == ENOENT;
    if (missing && !strchr(command, '/'))
        error_set(&error, command, "command not found");
    else if (missing && access(command, F_OK) == 0)
        error_set(&error, command, "its interpreter does not exist");
    else
        error_set_errno(&error, command, failure, "cannot be executed");
    return command_fail(missing ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE, &error);
}

/* More descriptors for us, once the command has been started with the limits of the caller. */
static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static bool open_session(struct session *session, const struct run_options *options,
                         struct names *names, int folder, bool is_profilable, struct error *error)
{
    const char *library = options->chosen.library;
    if (options->chosen.is_private && !launch_has_mimalloc(error))
        return false;
    if (!launch_signals_open(&session->signals, error) ||
        !launch_folder_make(&session->folder, error) ||
        (library[0] != '\0' && !launch_folder_add_allocator(&session->folder, library, error)))
        return false;
    session->collector = collector_open(
        &(struct collector_options){
            .rate = options->rate,
            .seed = options->seed,
            .slot_bytes = slots_bytes_for(options->max_memory),
            .temporary_ns = options->temporary_ns,
            .no_follow = options->no_follow,
            .threads = options->threads,
            .sizes = options->sizes,
            .mimalloc = options->chosen.is_private,
            .no_symbolize = options->no_symbolize,
            .keeps_result = options->leaks.is_wanted,
            .format = options->format,
            .names = names,
            .folder = folder,
            .listener = session->folder.listener,
            .socket = session->folder.assignment,
            .is_profilable = is_profilable,
            .say = add_note,
            .context = session,
        },
        error);
    return session->collector != NULL;
}

static void report(struct session *session, const struct run_options *options,
                   const struct target_check *target, struct names *names, int folder,
                   const char *command, bool has_followers)
{
    print_notes(session);
    if (!has_command_file(session))
        tell_no_profile(session, target, names, folder);
    if (options->quiet)
        return;
    struct summary summary = {
        .command = command,
        .format = options->format,
        .run_ns = session->end_ns - session->start_ns,
        .rate = options->rate,
        .allocator = &options->chosen,
        .files = collector_written(session->collector),
        .living = has_followers ? collector_living(session->collector) : 0,
        .has_unseen = has_followers,
        .is_verbose = options->verbose,
    };
    collector_counts(session->collector, &summary.counts);
    summary_print(&summary, stderr);
}

/* Starts the command, stays until it has ended, and ends as it did. */
static int run_command_in(struct session *session, const struct run_options *options,
                          const struct target_check *target, struct names *names, int folder,
                          char **arguments)
{
    bool exec_failed;
    int failure;
    session->start_ns = collector_now_ns();
    session->command = launch_start(
        &(struct launch_command){
            .arguments = arguments,
            .folder = &session->folder,
            .preload = target->can_profile || target->keeps_preload,
            .signals = &session->signals,
        },
        &exec_failed, &failure);
    if (exec_failed)
        return fail_to_execute(arguments[0], failure);
    if (session->command < 0) {
        struct error error;
        error_set_errno(&error, arguments[0], failure, "cannot be started");
        return command_fail(STATUS_FAILED, &error);
    }
    collector_follow(session->collector, session->command);
    raise_file_limit();
    session_wait(session);
    bool has_followers = session_finish(session);
    report(session, options, target, names, folder, arguments[0], has_followers);
    int leaks = run_leaks_report(&options->leaks, collector_take_result(session->collector),
                                 collector_written(session->collector));
    if (has_followers && !session_detach(session))
        fprintf(stderr, "heapprof: child processes go on without profiles: %s\n", strerror(errno));
    launch_folder_remove(&session->folder);
    int status = launch_signals_end_as(session->status);
    return status != STATUS_OK ? status : leaks;
}

/* Everything that can be checked before the command starts, then the run. */
static int run_with(const struct run_options *options, struct names *names, char **arguments)
{
    struct error error = {0};
    struct target_check target;
    launch_guard_stdio();
    tsc_clock_start();
    int folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    target_check(arguments[0], &target);
    char *preview = names_preview(names, target.file);
    bool ok = !preview || output_probe(folder, preview, &error);
    free(preview);
    struct session session = {.folder = {.listener = -1}, .signals = {.fd = -1}};
    int status = STATUS_FAILED;
    if (ok && open_session(&session, options, names, folder, target.can_profile, &error))
        status = run_command_in(&session, options, &target, names, folder, arguments);
    else
        status = command_fail(STATUS_FAILED, &error);
    collector_close(session.collector);
    launch_folder_remove(&session.folder);
    if (folder >= 0)
        close(folder);
    return status;
}

/* The status to end with when --allocator cannot be followed; STATUS_OK when it can. */
static int choose_allocator(struct run_options *options)
{
    struct error error;
    enum allocator_answer answer = allocator_choose(options->allocator, &options->chosen, &error);
    if (answer == ALLOCATOR_CHOSEN)
        return STATUS_OK;
    return command_fail(answer == ALLOCATOR_UNKNOWN ? STATUS_USAGE : STATUS_FAILED, &error);
}

/* What --max-memory is when it is not given: less under a limit on address space, which the command
 * inherits and needs for itself. */
static uint64_t default_memory(void)
{
    struct rlimit limit;
    uint64_t bytes = STORE_DEFAULT_SLOT_BYTES;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return bytes;
    while (bytes > limit.rlim_cur / 16 && bytes > STORE_MIN_SLOT_BYTES)
        bytes /= 2;
    return bytes;
}

static int run_main(const struct command *command, int argc, char **argv)
{
    struct run_options options = {.rate = DEFAULT_RATE,
                                  .max_memory = default_memory(),
                                  .temporary_ns = DEFAULT_TEMPORARY_NS,
                                  .leaks.fail_above = UINT64_MAX};
    struct error error = {0};
    int first;
    switch (option_parse(command, argc, argv, &options, &first, &error)) {
    case OPTION_HELP:
        return STATUS_OK;
    case OPTION_USAGE:
        return command_fail(STATUS_USAGE, &error);
    case OPTION_OK:
        break;
    }
    if (first >= argc) {
        error_set(&error, "run", "no command given; try 'heapprof run --help'");
        return command_fail(STATUS_USAGE, &error);
    }
    if (!check_options(&options, &error))
        return command_fail(STATUS_USAGE, &error);
    int chosen = choose_allocator(&options);
    if (chosen != STATUS_OK)
        return chosen;
    struct names *names = names_new(options.output, format_suffix(options.format), &error);
    if (!names)
        return command_fail(STATUS_USAGE, &error);
    bool ready = run_leaks_open(&options.leaks, &error);
    int status =
        ready ? run_with(&options, names, argv + first) : command_fail(STATUS_FAILED, &error);
    run_leaks_done(&options.leaks);
    names_free(names);
    return status;
}

const struct command run_command = {
    .name = "run",
    .operands = "[--] COMMAND [ARGUMENT]...",
    .summary = "profile a command's heap and write heap.prof",
    .details =
        "Options end at the command. Its exit status, or the signal that ended it, becomes\n"
        "that of heapprof. Child processes are profiled too: each one that allocates gets a\n"
        "file heap.PID.prof. Sizes take K, M and G.",
    .rows = run_rows,
    .stops_at_operand = true,
    .run = run_main,
};
