/* collector_state.h: the insides of a collector, shared by the files that make it up:
 * collector.c (the loop), collector_hello.c (the socket), collector_images.c (processes). */
#ifndef HEAPPROF_CLI_COLLECTOR_STATE_H
#define HEAPPROF_CLI_COLLECTOR_STATE_H

#include "cli/collector.h"
#include "cli/collector_files.h"
#include "cli/collector_jobs.h"
#include "cli/collector_slots.h"
#include "cli/collector_wake.h"
#include "cli/image_watch.h"
#include "proto/messages.h"

/* One program run by a process, from its hello (or its claim of a slot) to exec or end. */
struct image {
    int slot;        /* -1: none */
    uint32_t number; /* among the images of its process, from 1 */
    uint32_t fork_ordinal;
    uint64_t seed;
    uint64_t start_ns;     /* CLOCK_MONOTONIC */
    int64_t start_time_ns; /* since 1970 */
    char *executable, *command_line;
    int program; /* descriptor of the executable, -1 for none */
    uint32_t modules_seen;
    struct image_watch *watch; /* NULL before the first look */
};

struct process {
    struct process *next;
    pid_t pid;
    int pidfd; /* -1: has to be looked at now and then */
    uint32_t sequence;
    bool is_command;
    struct image image;
};

/* A connection whose hello is not complete yet. */
struct client {
    struct client *next;
    int fd;
    uint64_t deadline_ns;
    uint32_t received; /* bytes of hello */
    struct message_hello hello;
};

struct collector {
    struct collector_options options;
    int epoll;
    struct slots slots;
    struct wake wake;
    struct files files;
    struct jobs jobs;
    struct process *processes;
    struct client *clients;
    uint32_t client_count;
    uint64_t *slot_seed;       /* by slot, of the image that has it */
    bool *slot_known;          /* by slot: some process of ours has it */
    uint64_t *slot_claimed_ns; /* by slot: when it was first seen being claimed; 0: it is not */
    char **slot_program;       /* by slot: what the last image there executed; NULL: none yet */
    uint32_t taken;            /* slots that are known */
    pid_t command;
    bool command_ended;
    bool leaves_rest; /* files are made later: somebody waits for us to return */
    bool met_command;
    uint32_t sequence; /* of the last process */
    struct collector_counts counts;
};

/* --- collector_hello.c --------------------------------------------------------------------- */

/* Takes all connections that wait. */
void hello_accept(struct collector *collector);
/* Reads from a client; it is gone afterwards unless its hello is still incomplete. */
void hello_read(struct collector *collector, struct client *client);
/* Drops clients that have been silent for too long; milliseconds to the next such, -1 for none. */
int hello_expire(struct collector *collector);
/* Whether pointer is one of the clients. */
bool hello_is_client(const struct collector *collector, const void *pointer);
void hello_close(struct collector *collector);

/* --- collector_images.c -------------------------------------------------------------------- */

struct process *process_find(const struct collector *collector, pid_t pid);
/* Adds the process; if it has ended already, that is found out soon. */
struct process *process_add(struct collector *collector, pid_t pid);
/* A new image without a slot. */
struct image image_new(pid_t pid, uint64_t seed);
void image_free(struct image *image);
/* Gives process its next image, which takes over; the one before is finished as an earlier one. */
void process_exec(struct collector *collector, struct process *process, struct image image);
/* The process has ended: finishes its last image and frees it. */
void process_end(struct collector *collector, struct process *process);
/* Finishes the image as if the process ended now; it is known without a slot afterwards. */
void process_cut(struct collector *collector, struct process *process);
/* Looks at the store: forked children that took slots, modules that were added. */
void images_scan(struct collector *collector);
/* The same when process has just said hello; own_pid: as it sees itself. */
void images_scan_for(struct collector *collector, struct process *process, uint32_t own_pid);
/* Looks after the processes without pidfd. */
void images_poll(struct collector *collector);
/* Looks at the memory of those that run, where it is time; milliseconds to the next look, -1 for
 * none. */
int images_watch(struct collector *collector);
/* Finishes the processes that have ended now, to have their slots back; not for but. */
void images_reap(struct collector *collector, const struct process *but);

#endif
