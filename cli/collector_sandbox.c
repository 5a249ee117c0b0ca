/* collector_sandbox.c: names are looked up, and the file is made, in a process that may crash.
 *
 * Memory is limited as data (RLIMIT_DATA), not as address space: mapping a large debug file costs
 * nothing. Under the sanitizers, whose shadow memory counts as data, there is no such limit. */
#include "cli/collector_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/allocator_frames.h"
#include "cli/collector_files.h"
#include "cli/collector_format.h"
#include "cli/collector_proc.h"
#include "proto/error.h"
#include "proto/profile.h"
#include "symbolize/symbolize.h"

/* Seconds of CPU: a browser's debug information takes about one minute. And of any time without
 * progress: a child that waits for something uses no CPU. */
enum { CPU_SECONDS = 600, CPU_SECONDS_SYMBOLS = 120, STALL_SECONDS = 300 };

#define LEAST_MEMORY (1ull << 30)
#define MOST_MEMORY (32ull << 30)

static void limit(int resource, uint64_t value)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)resource, &now) != 0)
        return;
    if (now.rlim_cur == RLIM_INFINITY || now.rlim_cur > value) {
        now.rlim_cur = value;
        setrlimit((__rlimit_resource_t)resource, &now);
    }
}

/* Half of the machine's memory. */
static uint64_t memory_limit(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t half = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 2 : LEAST_MEMORY;
    return half < LEAST_MEMORY ? LEAST_MEMORY : half > MOST_MEMORY ? MOST_MEMORY : half;
}

static void enter(enum sandbox_names names)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* without the launcher nobody takes the result */
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, names == SANDBOX_ALL_NAMES ? CPU_SECONDS : CPU_SECONDS_SYMBOLS);
#if !defined(__SANITIZE_ADDRESS__)
    limit(RLIMIT_DATA, memory_limit());
#else
    (void)memory_limit;
#endif
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    static const int deadly[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,
                                 SIGABRT, SIGXCPU, SIGALRM, SIGTERM};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++) {
        signal(deadly[i], SIG_DFL);
        sigaddset(&set, deadly[i]);
    }
    alarm(STALL_SECONDS);
    sigprocmask(SIG_UNBLOCK, &set, NULL); /* Ctrl-C stays blocked: it is the launcher's business */
}

/* What the callbacks of the symbolizer need. */
struct worker {
    const struct files *files;
    struct sandbox_progress *progress;
};

static int open_mapping(void *context, const struct profile_mapping *mapping)
{
    const struct worker *worker = context;
    return files_open(worker->files, mapping);
}

static void tell_progress(void *context, uint64_t done, uint64_t total)
{
    struct sandbox_progress *progress = ((struct worker *)context)->progress;
    __atomic_store_n(&progress->total, total, __ATOMIC_RELAXED);
    if (done != __atomic_exchange_n(&progress->done, done, __ATOMIC_RELAXED))
        alarm(STALL_SECONDS);
}

static void find_names(struct profile *profile, struct worker *worker, enum sandbox_names names)
{
    struct symbolize_stats stats = {0};
    struct symbolize_options options = {
        .open_mapping = open_mapping,
        .context = worker,
        .progress = tell_progress,
        .no_dwarf = names == SANDBOX_SYMBOLS_ONLY,
    };
    symbolize_profile(profile, &options, &stats);
    allocator_frames_trim(profile);
    worker->progress->total = stats.locations;
    worker->progress->named = stats.named;
    worker->progress->with_line = stats.with_line;
}

static bool write_file(int fd, const char *format, const struct profile *profile)
{
    FILE *stream = fdopen(fd, "w");
    return stream && format_write(format, profile, stream, NULL) && fflush(stream) == 0 &&
           ferror(stream) == 0;
}

bool sandbox_start(struct sandbox *sandbox, const char *format, struct profile *profile,
                   const struct files *files, enum sandbox_names names)
{
    *sandbox = (struct sandbox){.child = -1, .pidfd = -1, .result = -1};
    void *shared = mmap(NULL, sizeof(*sandbox->progress), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sandbox->progress = shared == MAP_FAILED ? NULL : shared;
    sandbox->result = memfd_create("heapprof-result", MFD_CLOEXEC);
    if (sandbox->progress && sandbox->result >= 0)
        sandbox->child = fork();
    if (sandbox->child == 0) {
        struct worker worker = {.files = files, .progress = sandbox->progress};
        enter(names);
        if (names != SANDBOX_NO_NAMES)
            find_names(profile, &worker, names);
        _exit(write_file(sandbox->result, format, profile) ? 0 : 1);
    }
    if (sandbox->child > 0)
        sandbox->pidfd = proc_pidfd(sandbox->child);
    if (sandbox->pidfd >= 0)
        return true;
    int saved = errno;
    sandbox_kill(sandbox);
    errno = saved;
    return false;
}

static void forget(struct sandbox *sandbox)
{
    if (sandbox->pidfd >= 0)
        close(sandbox->pidfd);
    if (sandbox->result >= 0)
        close(sandbox->result);
    if (sandbox->progress)
        munmap(sandbox->progress, sizeof(*sandbox->progress));
    *sandbox = (struct sandbox){.child = -1, .pidfd = -1, .result = -1};
}

static int reap(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

bool sandbox_finish(struct sandbox *sandbox, int *result, struct sandbox_progress *last,
                    char *reason, unsigned long size)
{
    int status = reap(sandbox->child);
    bool ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    *last = *sandbox->progress;
    *result = -1;
    if (ok) {
        *result = sandbox->result;
        sandbox->result = -1;
        lseek(*result, 0, SEEK_SET);
    } else if (WIFSIGNALED(status) &&
               (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGALRM)) {
        snprintf(reason, size, "took too long");
    } else if (WIFSIGNALED(status)) {
        snprintf(reason, size, "crashed (signal %d)", WTERMSIG(status));
    } else {
        snprintf(reason, size, "failed (out of memory, perhaps)");
    }
    forget(sandbox);
    return ok;
}

void sandbox_kill(struct sandbox *sandbox)
{
    if (sandbox->child > 0) {
        kill(sandbox->child, SIGKILL);
        reap(sandbox->child);
    }
    forget(sandbox);
}
