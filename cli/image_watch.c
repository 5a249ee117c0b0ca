/* image_watch.c: looks at a running program by the store and /proc. */
#include "cli/image_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/store_sizes.h"
#include "cli/timeline.h"
#include "proto/arena.h"

/* Names that are read again in one look at most: a program of thousands of threads must not keep
 * us busy. */
enum { NAMES_A_LOOK = 64, NAME_SIZE = 64 };

/* Every so many looks the kernel is asked for its maximum of resident memory. */
enum { LOOKS_A_PEAK = 4 };

/* The time between two looks is at most this part of the time that the program has run. */
enum { INTERVAL_PART = 25, INTERVAL_MOST_MS = 1000 };

/* After each so many looks without a change, the time to the next one doubles, to 320 ms. */
enum { UNCHANGED_STEP = 4, UNCHANGED_MOST = 4 * UNCHANGED_STEP };

struct thread_name {
    uint32_t tid;
    char text[NAME_SIZE];
};

struct image_watch {
    struct timeline timeline;
    struct timeline_point last;
    unsigned looks;
    unsigned unchanged; /* looks since something was seen to change */
    uint64_t due_ms;    /* of the next look */
    uint64_t peak_rss;
    struct thread_name *names; /* by index in the slot's table */
    uint32_t name_count;
    size_t name_capacity;
    uint32_t next_name;                                          /* to be read again */
    char own_name[sizeof(((struct store_thread *)0)->name) + 1]; /* image_watch_thread_name's */
};

struct image_watch *image_watch_new(void)
{
    struct image_watch *watch = heap_alloc(sizeof(*watch));
    memset(watch, 0, sizeof(*watch));
    timeline_init(&watch->timeline, WATCH_INTERVAL_MS);
    return watch;
}

void image_watch_free(struct image_watch *watch)
{
    if (watch)
        free(watch->names);
    free(watch);
}

/* The beginning of a file of /proc as text; "" when it cannot be read. */
static void read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = '\0';
}

/* --- memory --------------------------------------------------------------------------------- */

/* Bytes of a line such as "VmHWM:     1234 kB" of /proc/PID/status; 0 when there is none. */
static uint64_t status_bytes(const char *status, const char *field)
{
    const char *line = strstr(status, field);
    uint64_t bytes;
    if (!line || __builtin_mul_overflow(strtoull(line + strlen(field), NULL, 10), 1024ull, &bytes))
        return 0;
    return bytes;
}

/* The kernel's own maximum. Its file costs more than all else of a look. */
static void look_at_peak_rss(struct image_watch *watch, pid_t pid)
{
    char path[64], status[2048];
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    read_text(path, status, sizeof(status));
    uint64_t peak = status_bytes(status, "\nVmHWM:");
    if (peak > watch->peak_rss)
        watch->peak_rss = peak;
}

static uint64_t look_at_rss(struct image_watch *watch, pid_t pid)
{
    char path[64], text[128], *end;
    snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
    read_text(path, text, sizeof(text));
    strtoull(text, &end, 10);
    uint64_t pages = strtoull(end, NULL, 10), bytes; /* the second number; 0 without one */
    if (__builtin_mul_overflow(pages, (uint64_t)sysconf(_SC_PAGESIZE), &bytes))
        return 0;
    if (bytes > watch->peak_rss)
        watch->peak_rss = bytes;
    return bytes;
}

/* --- names of threads ------------------------------------------------------------------------ */

static void look_at_name(struct thread_name *name, pid_t pid)
{
    char path[64], text[NAME_SIZE];
    snprintf(path, sizeof(path), "/proc/%d/task/%u/comm", (int)pid, name->tid);
    read_text(path, text, sizeof(text));
    size_t length = strlen(text);
    if (length > 0) /* ends with a newline; a name may have others in it */
        text[length - 1] = '\0';
    if (text[0] != '\0')
        memcpy(name->text, text, sizeof(text));
}

/* Takes over the threads that are new in the table. */
static void look_at_threads(struct image_watch *watch, const struct store_header *header,
                            const struct watch_place *place)
{
    struct store_thread thread;
    struct store_geometry geometry;
    if (!store_geometry_of(place->slot_bytes, &geometry))
        return;
    uint32_t count = header->thread_count < geometry.thread_capacity ? header->thread_count
                                                                     : geometry.thread_capacity;
    while (watch->name_count < count) {
        uint64_t at = geometry.threads_offset + watch->name_count * sizeof(thread);
        if (pread(place->store, &thread, sizeof(thread), (off_t)(place->offset + at)) !=
                (ssize_t)sizeof(thread) ||
            thread.tid == 0)
            return;
        watch->names = heap_grow(watch->names, &watch->name_capacity, watch->name_count + 1,
                                 sizeof(*watch->names));
        struct thread_name *name = &watch->names[watch->name_count++];
        *name = (struct thread_name){.tid = thread.tid};
        look_at_name(name, place->pid);
    }
}

static void look_at_names_again(struct image_watch *watch, pid_t pid)
{
    uint32_t count = watch->name_count < NAMES_A_LOOK ? watch->name_count : NAMES_A_LOOK;
    for (uint32_t i = 0; i < count; i++) {
        watch->next_name = watch->next_name + 1 < watch->name_count ? watch->next_name + 1 : 0;
        look_at_name(&watch->names[watch->next_name], pid);
    }
}

const char *image_watch_thread_name(void *context, uint32_t index,
                                    const struct store_thread *thread)
{
    struct image_watch *watch = context;
    const struct thread_name *seen = index < watch->name_count ? &watch->names[index] : NULL;
    if (!thread->is_named && seen && seen->tid == thread->tid && seen->text[0] != '\0')
        return seen->text;
    memcpy(watch->own_name, thread->name, sizeof(thread->name));
    watch->own_name[sizeof(thread->name)] = '\0';
    return watch->own_name[0] != '\0' ? watch->own_name : NULL;
}

/* --- a look ---------------------------------------------------------------------------------- */

/* A program that does nothing is looked at less and less often. */
static void set_due(struct image_watch *watch, const struct timeline_point *point)
{
    bool same = point->live == watch->last.live && point->allocated == watch->last.allocated &&
                point->rss == watch->last.rss;
    watch->unchanged = !same ? 0 : watch->unchanged + (watch->unchanged < UNCHANGED_MOST);
    watch->last = *point;
    uint64_t interval = point->t_ms / INTERVAL_PART;
    if (interval < WATCH_INTERVAL_MS)
        interval = WATCH_INTERVAL_MS;
    if (interval < (uint64_t)WATCH_INTERVAL_MS << watch->unchanged / UNCHANGED_STEP)
        interval = (uint64_t)WATCH_INTERVAL_MS << watch->unchanged / UNCHANGED_STEP;
    if (interval > INTERVAL_MOST_MS)
        interval = INTERVAL_MOST_MS;
    uint64_t due = point->t_ms + interval;
    watch->due_ms = due > watch->timeline.due_ms ? due : watch->timeline.due_ms;
}

void image_watch_look(struct image_watch *watch, const struct watch_place *place, uint64_t t_ms,
                      bool is_last)
{
    struct {
        struct store_header header;
        uint8_t rest[STORE_PAGE - sizeof(struct store_header)];
        struct store_sizes sizes;
    } slot;
    watch->due_ms = t_ms + WATCH_INTERVAL_MS;
    if (pread(place->store, &slot, sizeof(slot), (off_t)place->offset) != (ssize_t)sizeof(slot) ||
        slot.header.magic != STORE_MAGIC)
        return;
    if (!is_last && slot.header.thread_count > 0) {
        look_at_names_again(watch, place->pid);
        look_at_threads(watch, &slot.header, place);
    }
    struct timeline_point point = {
        .t_ms = t_ms,
        .live = store_live_bytes(slot.header.live),
        .allocated = store_sizes_bytes(&slot.sizes),
        .rss = look_at_rss(watch, place->pid),
    };
    if (is_last || watch->looks++ % LOOKS_A_PEAK == 0)
        look_at_peak_rss(watch, place->pid);
    timeline_add(&watch->timeline, &point);
    set_due(watch, &point);
}

uint64_t image_watch_due_ms(const struct image_watch *watch)
{
    return watch ? watch->due_ms : WATCH_INTERVAL_MS;
}

const struct timeline *image_watch_timeline(const struct image_watch *watch)
{
    return watch ? &watch->timeline : NULL;
}

uint64_t image_watch_peak_rss(const struct image_watch *watch)
{
    return watch ? watch->peak_rss : 0;
}
