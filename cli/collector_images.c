/* collector_images.c: the processes of a run, the programs they execute, and their ends.
 *
 * A process is known from its first hello, or from the slot that it took as a forked child, until
 * its pidfd says that it has ended. Each program that it executes is an image with a slot of its
 * own; when the next one says hello, or the process ends, the slot's data are final. */
#include "cli/collector_state.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "cli/collector_names.h"
#include "cli/collector_proc.h"
#include "cli/output_file.h"
#include "cli/tsc_clock.h"
#include "proto/arena.h"
#include "proto/error.h"
#include "proto/profile.h"

/* --- processes ------------------------------------------------------------------------------ */

struct process *process_find(const struct collector *collector, pid_t pid)
{
    struct process *process = collector->processes;
    while (process && process->pid != pid)
        process = process->next;
    return process;
}

static int open_pidfd(struct collector *collector, pid_t pid)
{
    int fd = proc_pidfd(pid);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
        files_shed(&collector->files);
        fd = proc_pidfd(pid);
    }
    return fd;
}

struct process *process_add(struct collector *collector, pid_t pid)
{
    struct process *process = heap_alloc(sizeof(*process));
    *process = (struct process){
        .next = collector->processes,
        .pid = pid,
        .pidfd = open_pidfd(collector, pid),
        .is_command = pid == collector->command && !collector->command_ended,
        .image = {.slot = -1, .program = -1},
    };
    process->sequence = process->is_command ? 1 : ++collector->sequence;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = process};
    if (process->pidfd >= 0 &&
        epoll_ctl(collector->epoll, EPOLL_CTL_ADD, process->pidfd, &event) != 0) {
        close(process->pidfd);
        process->pidfd = -1;
    }
    collector->processes = process;
    return process;
}

static void process_free(struct collector *collector, struct process *process)
{
    struct process **at = &collector->processes;
    while (*at != process)
        at = &(*at)->next;
    *at = process->next;
    if (process->pidfd >= 0) {
        epoll_ctl(collector->epoll, EPOLL_CTL_DEL, process->pidfd, NULL);
        close(process->pidfd);
    }
    image_free(&process->image);
    free(process);
}

/* --- images --------------------------------------------------------------------------------- */

static int64_t time_of(uint64_t monotonic_ns)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t ago = (int64_t)(collector_now_ns() - monotonic_ns);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - ago;
}

struct image image_new(pid_t pid, uint64_t seed)
{
    struct image image = {
        .slot = -1,
        .seed = seed,
        .start_ns = collector_now_ns(),
        .executable = proc_executable(pid),
        .command_line = proc_command_line(pid),
        .program = proc_open_file(pid, ""),
    };
    image.start_time_ns = time_of(image.start_ns);
    return image;
}

void image_free(struct image *image)
{
    if (image->program >= 0)
        close(image->program);
    free(image->executable);
    free(image->command_line);
    image_watch_free(image->watch);
    *image = (struct image){.slot = -1, .program = -1};
}

static void take_slot(struct collector *collector, const struct image *image)
{
    collector->slot_known[image->slot] = true;
    collector->slot_seed[image->slot] = image->seed;
    free(collector->slot_program[image->slot]);
    collector->slot_program[image->slot] = heap_text(image->executable);
    collector->taken++;
    if (collector->taken > collector->counts.slots_at_once)
        collector->counts.slots_at_once = collector->taken;
}

static void give_slot_back(struct collector *collector, struct image *image)
{
    slots_retire(&collector->slots, (uint32_t)image->slot);
    collector->slot_known[image->slot] = false;
    collector->taken--;
    image->slot = -1;
}

/* --- modules -------------------------------------------------------------------------------- */

/* Reads size bytes of the image's slot; false when they cannot be read. */
static bool read_slot(const struct collector *collector, const struct image *image, uint64_t offset,
                      void *to, size_t size)
{
    uint64_t at = slots_offset(&collector->slots, (uint32_t)image->slot) + offset;
    return pread(collector->slots.fd, to, size, (off_t)at) == (ssize_t)size;
}

/* A program started as "ld.so PROGRAM" runs, as /proc has it, ld.so. */
static void correct_executable(struct image *image, pid_t pid, const struct store_module *module)
{
    const char *slash = strrchr(image->executable, '/');
    if (strncmp(slash ? slash + 1 : image->executable, "ld-linux", 8) != 0)
        return;
    char *path = proc_mapped_file(pid, module->text_start);
    if (path[0] != '/') {
        free(path);
        return;
    }
    free(image->executable);
    image->executable = path;
    if (image->program >= 0)
        close(image->program);
    image->program = proc_open_file(pid, path);
}

/* Opens the files of the modules that were added since the last look. */
static void scan_modules(struct collector *collector, struct process *process)
{
    struct image *image = &process->image;
    struct store_geometry geometry;
    uint32_t count;
    if (image->slot < 0 || !store_geometry_of(collector->slots.slot_bytes, &geometry) ||
        !read_slot(collector, image, offsetof(struct store_header, module_count), &count,
                   sizeof(count)))
        return;
    count = count < geometry.module_capacity ? count : geometry.module_capacity;
    for (; image->modules_seen < count; image->modules_seen++) {
        struct store_module module;
        char path[4096];
        uint64_t offset = geometry.modules_offset + image->modules_seen * sizeof(module);
        if (!read_slot(collector, image, offset, &module, sizeof(module)) ||
            module.state == STORE_MODULE_EMPTY)
            return; /* being written: its wake is still to come */
        if (module.path_offset >= geometry.text_capacity || module.path_length >= sizeof(path) ||
            module.path_length > geometry.text_capacity - module.path_offset ||
            !read_slot(collector, image, geometry.text_offset + module.path_offset, path,
                       module.path_length))
            continue;
        path[module.path_length] = '\0';
        if (module.path_length == 0)
            correct_executable(image, process->pid, &module);
        files_add(&collector->files, &(struct files_module){
                                         .pid = process->pid,
                                         .path = path,
                                         .executable = image->executable,
                                         .program = image->program,
                                         .build_id = module.build_id,
                                         .build_id_length = module.build_id_length,
                                     });
    }
}

/* --- looks at the memory ---------------------------------------------------------------------- */

static void look(struct collector *collector, struct process *process, bool is_last)
{
    struct image *image = &process->image;
    if (!image->watch)
        image->watch = image_watch_new();
    image_watch_look(image->watch,
                     &(struct watch_place){
                         .pid = process->pid,
                         .store = collector->slots.fd,
                         .offset = slots_offset(&collector->slots, (uint32_t)image->slot),
                         .slot_bytes = collector->slots.slot_bytes,
                     },
                     (collector_now_ns() - image->start_ns) / 1000000, is_last);
}

int images_watch(struct collector *collector)
{
    uint32_t count = 0;
    uint64_t now = collector_now_ns(), left = UINT64_MAX;
    for (struct process *process = collector->processes; process; process = process->next) {
        const struct image *image = &process->image;
        if (image->slot < 0)
            continue;
        uint64_t t_ms = (now - image->start_ns) / 1000000;
        if (t_ms >= image_watch_due_ms(image->watch))
            look(collector, process, false);
        uint64_t due = image_watch_due_ms(image->watch);
        if (due > t_ms && due - t_ms < left)
            left = due - t_ms;
        count++;
    }
    if (count == 0)
        return -1;
    uint64_t least = WATCH_INTERVAL_MS * (1 + count / WATCH_CROWD);
    return (int)(left < least ? least : left > 1000 ? 1000 : left);
}

/* --- the end of an image -------------------------------------------------------------------- */

static char *file_name(struct collector *collector, const struct process *process, bool is_last)
{
    return names_next(collector->options.names,
                      &(struct names_of){
                          .pid = (uint32_t)process->pid,
                          .sequence = process->sequence,
                          .earlier_image = is_last ? 0 : process->image.number,
                          .is_command = process->is_command,
                          .executable = process->image.executable,
                      });
}

/* A device or a pipe holds the command's profile and no other. */
static bool has_place(const struct collector *collector, const char *executable)
{
    char *preview = names_preview(collector->options.names, executable);
    bool straight = preview && names_is_fixed(collector->options.names) &&
                    output_is_straight(collector->options.folder, preview);
    free(preview);
    return !straight;
}

/* The command's last image gets a file also without samples, if it can have any. */
static bool gets_file_anyway(const struct collector *collector, const struct process *process,
                             bool is_last)
{
    return process->is_command && is_last && collector->options.is_profilable &&
           store_slot_is_started(collector->slots.fd,
                                 slots_offset(&collector->slots, (uint32_t)process->image.slot));
}

/* False when there is nothing in the profile that would be worth a file. */
static bool add_job(struct collector *collector, const struct process *process,
                    const struct store_snapshot *snapshot, bool is_last, bool is_running)
{
    const struct image *image = &process->image;
    struct job *job = heap_alloc(sizeof(*job));
    *job = (struct job){
        .executable = heap_text(image->executable),
        .pid = (uint32_t)process->pid,
        .is_command = process->is_command && is_last,
        .is_late = collector->leaves_rest,
    };
    uint64_t now = collector_now_ns();
    job->profile = store_profile(snapshot,
                                 &(struct store_image){
                                     .executable = image->executable,
                                     .command_line = image->command_line,
                                     .pid = (uint32_t)process->pid,
                                     .fork_ordinal = image->fork_ordinal,
                                     .rate = collector->options.rate,
                                     .seed = image->seed,
                                     .start_ns = image->start_ns,
                                     .end_ns = now,
                                     .end_tsc = tsc_clock_at(now),
                                     .tsc_hz = tsc_clock_hz(),
                                     .temporary_ns = collector->options.temporary_ns,
                                     .start_time_ns = image->start_time_ns,
                                     .thread_name = image_watch_thread_name,
                                     .timeline = image_watch_timeline(image->watch),
                                     .peak_rss = image_watch_peak_rss(image->watch),
                                     .context = image->watch,
                                     .is_running = is_running,
                                 },
                                 &job->totals);
    if (job->profile->sample_count == 0 && !gets_file_anyway(collector, process, is_last)) {
        job_free(job); /* stacks were recorded, but nothing in them */
        return false;
    }
    job->path = file_name(collector, process, is_last);
    jobs_add(&collector->jobs, job);
    return true;
}

static void tell_damage(struct collector *collector, const struct process *process,
                        const struct error *error)
{
    char line[2048];
    snprintf(line, sizeof(line), "no profile of %s (pid %d): %s", process->image.executable,
             (int)process->pid, error->text);
    collector->options.say(collector->options.context, line);
}

/* Whether it is worth to look at the image's slot. */
static bool is_wanted(struct collector *collector, const struct process *process, bool is_last)
{
    if (gets_file_anyway(collector, process, is_last))
        return true;
    uint64_t offset = slots_offset(&collector->slots, (uint32_t)process->image.slot);
    bool has_samples = store_slot_has_samples(collector->slots.fd, offset);
    if (!has_samples || (process->is_command && is_last) ||
        has_place(collector, process->image.executable))
        return has_samples;
    collector->counts.left_out++;
    return false;
}

/* False when the image's profile is not worth a file. */
static bool make_profile(struct collector *collector, struct process *process, bool is_last,
                         bool is_running)
{
    struct store_snapshot snapshot;
    struct error error;
    if (!is_wanted(collector, process, is_last))
        return false;
    scan_modules(collector, process);
    if (!store_snapshot_read(&snapshot, collector->slots.fd,
                             slots_offset(&collector->slots, (uint32_t)process->image.slot),
                             collector->slots.slot_bytes, &error)) {
        tell_damage(collector, process, &error);
        return true; /* it would have been */
    }
    look(collector, process, true);
    bool worth = add_job(collector, process, &snapshot, is_last, is_running);
    store_snapshot_free(&snapshot);
    return worth;
}

/* The slot's data are final: they become a job, the slot is free again. */
static void finish(struct collector *collector, struct process *process, bool is_last,
                   bool is_running)
{
    if (process->image.slot < 0)
        return;
    if (!make_profile(collector, process, is_last, is_running) && process->is_command && is_last) {
        collector->met_command = false; /* as if it had never said hello */
        collector->counts.without_memory = true;
    }
    if (is_running)
        process->image.slot = -1; /* it goes on writing there: the slot stays its own */
    else
        give_slot_back(collector, &process->image);
}

void process_exec(struct collector *collector, struct process *process, struct image image)
{
    image.number = process->image.number + 1;
    finish(collector, process, false, false);
    image_free(&process->image);
    process->image = image;
    take_slot(collector, &image);
    scan_modules(collector, process);
}

void process_end(struct collector *collector, struct process *process)
{
    finish(collector, process, true, false);
    process_free(collector, process);
}

void process_cut(struct collector *collector, struct process *process)
{
    finish(collector, process, true, true);
}

/* --- the store ------------------------------------------------------------------------------ */

/* When a forked child began, if its own word for it can be true. */
static void set_start(struct image *image, uint64_t claimed_ns)
{
    if (claimed_ns == 0 || claimed_ns > image->start_ns)
        return;
    image->start_ns = claimed_ns;
    image->start_time_ns = time_of(claimed_ns);
}

static struct process *process_in_slot(const struct collector *collector, uint32_t slot)
{
    struct process *process = collector->processes;
    while (process && (process->image.slot < 0 || (uint32_t)process->image.slot != slot))
        process = process->next;
    return process;
}

/* What a forked child runs is what its parent runs, if it is too late to ask; the parent may have
 * ended as well. */
static void inherit(const struct collector *collector, struct image *image, uint32_t parent_slot,
                    const struct process *parent)
{
    if (image->executable[0] != '\0' || parent_slot >= collector->slots.count ||
        !collector->slot_program[parent_slot])
        return;
    free(image->executable);
    image->executable = heap_text(collector->slot_program[parent_slot]);
    if (!parent)
        return;
    free(image->command_line);
    image->command_line = heap_text(parent->image.command_line);
}

/* The process that claimed a slot; NULL when it has ended already. */
static struct process *claimer(struct collector *collector, uint32_t own_pid,
                               const struct process *parent)
{
    pid_t pid = proc_find(&(struct proc_child){
        .own_pid = (pid_t)own_pid,
        .parent = parent ? parent->pid : 0,
        .store = collector->slots.fd,
        .assignment = collector->options.socket,
    });
    if (pid <= 0)
        return NULL;
    struct process *process = process_find(collector, pid);
    return process ? process : process_add(collector, pid);
}

/* A forked child has taken slot. process: who it is, if that is known. */
static void add_forked(struct collector *collector, uint32_t slot, struct process *process)
{
    const struct store_entry *entry = &collector->slots.directory->entries[slot];
    uint32_t own_pid = __atomic_load_n(&entry->pid, __ATOMIC_RELAXED);
    uint32_t parent_slot = __atomic_load_n(&entry->parent_slot, __ATOMIC_RELAXED);
    const struct process *parent = process_in_slot(collector, parent_slot);
    if (!process)
        process = claimer(collector, own_pid, parent);
    uint64_t seed = parent_slot < collector->slots.count ? collector->slot_seed[parent_slot] : 0;
    struct image image = image_new(process ? process->pid : (pid_t)own_pid, seed);
    image.slot = (int)slot;
    image.fork_ordinal = __atomic_load_n(&entry->fork_ordinal, __ATOMIC_RELAXED);
    set_start(&image, __atomic_load_n(&entry->start_ns, __ATOMIC_RELAXED));
    inherit(collector, &image, parent_slot, parent);
    collector->counts.forked++;
    bool is_gone = !process;
    if (is_gone)
        process = process_add(collector, (pid_t)own_pid);
    process_exec(collector, process, image);
    if (is_gone)
        process_end(collector, process); /* whoever bears its number now is somebody else */
}

/* A child that was killed while it filled its slot leaves it claimed for ever. Filling takes
 * milliseconds; after CLAIM_NS, and with nobody of that pid there, the slot is taken back. */
#define CLAIM_NS 5000000000ull

static void take_back_if_dead(struct collector *collector, uint32_t slot)
{
    uint64_t now = collector_now_ns();
    if (collector->slot_claimed_ns[slot] == 0)
        collector->slot_claimed_ns[slot] = now;
    if (now - collector->slot_claimed_ns[slot] < CLAIM_NS)
        return;
    pid_t pid =
        (pid_t)__atomic_load_n(&collector->slots.directory->entries[slot].pid, __ATOMIC_RELAXED);
    if (pid > 0 && (kill(pid, 0) == 0 || errno != ESRCH))
        return;
    slots_retire(&collector->slots, slot);
    collector->slot_claimed_ns[slot] = 0;
}

void images_scan_for(struct collector *collector, struct process *process, uint32_t own_pid)
{
    if (!collector->slots.directory)
        return; /* nobody can record anything any more */
    const struct store_directory *directory = collector->slots.directory;
    for (uint32_t slot = 0; slot < collector->slots.count; slot++) {
        uint32_t state = slots_state(&collector->slots, slot);
        if (state == STORE_ENTRY_CLAIMED)
            take_back_if_dead(collector, slot);
        else
            collector->slot_claimed_ns[slot] = 0;
        if (collector->slot_known[slot] || state != STORE_ENTRY_FORKED)
            continue;
        bool is_known = process && own_pid == directory->entries[slot].pid;
        add_forked(collector, slot, is_known ? process : NULL);
    }
    for (struct process *each = collector->processes; each; each = each->next)
        scan_modules(collector, each);
    collector->counts.without_slot_forked =
        __atomic_load_n(&directory->claim_failures, __ATOMIC_RELAXED);
}

void images_scan(struct collector *collector)
{
    images_scan_for(collector, NULL, 0);
}

void images_poll(struct collector *collector)
{
    for (struct process *process = collector->processes, *next; process; process = next) {
        next = process->next;
        if (process->pidfd >= 0)
            continue;
        char state = proc_state(process->pid);
        if (state == 'Z' || state == 'X' || (state == 0 && kill(process->pid, 0) != 0))
            process_end(collector, process);
    }
}

void images_reap(struct collector *collector, const struct process *but)
{
    for (struct process *process = collector->processes, *next; process; process = next) {
        next = process->next;
        if (process != but && process->pidfd >= 0 && proc_has_ended(process->pidfd))
            process_end(collector, process);
    }
}
