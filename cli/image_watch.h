/* image_watch.h: what is looked at while a program runs, since it cannot be had afterwards: its
 * memory over time, its peak resident set, the names of its threads.
 *
 * The collector looks now and then. What it reads of the store may be anything. */
#ifndef HEAPPROF_CLI_IMAGE_WATCH_H
#define HEAPPROF_CLI_IMAGE_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/store_layout.h"

struct timeline;

/* Between two looks at least, and while not more than WATCH_CROWD programs run. It is longer while
 * nothing changes, and in long runs: up to a second. A look costs less than 100 us. */
enum { WATCH_INTERVAL_MS = 20, WATCH_CROWD = 8 };

/* Where the program and its slot are. */
struct watch_place {
    pid_t pid;
    int store;       /* descriptor */
    uint64_t offset; /* of the slot */
    uint64_t slot_bytes;
};

struct image_watch;

/* Never NULL; freed with image_watch_free, which takes NULL. */
struct image_watch *image_watch_new(void);
void image_watch_free(struct image_watch *watch);

/* When the next look is due, ms after the program's start; watch may be NULL: the first. */
uint64_t image_watch_due_ms(const struct image_watch *watch);

/* Looks, t_ms after the program's start; is_last: what the program has left in its slot. */
void image_watch_look(struct image_watch *watch, const struct watch_place *place, uint64_t t_ms,
                      bool is_last);

const struct timeline *image_watch_timeline(const struct image_watch *watch);

/* The largest resident set that was seen, bytes; 0 when none was. */
uint64_t image_watch_peak_rss(const struct image_watch *watch);

/* The name of a thread of the program: the one it gave it, the one seen last in /proc, else the one
 * that it had at its first sample; NULL when there is none. index: its place in the slot's table.
 * context is the image_watch; the text is good until the next call. */
const char *image_watch_thread_name(void *context, uint32_t index,
                                    const struct store_thread *thread);

#endif
