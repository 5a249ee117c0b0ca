/* collector.h: serves the processes of a run and turns what they recorded into files.
 *
 * Process images say hello on a Unix socket and get the shared store; forked children take a slot
 * of it by themselves. When a process ends, however it ends, or executes another program, its
 * slot becomes a profile and the profile a file. Everything happens in collector_turn, driven by
 * one descriptor that can be polled; only one thread may use a collector. */
#ifndef HEAPPROF_CLI_COLLECTOR_H
#define HEAPPROF_CLI_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/store_reader.h"

struct collector;
struct error;
struct job;
struct names;

struct collector_options {
    uint64_t rate;         /* mean sampling gap, bytes, at least 1 */
    uint64_t seed;         /* of the command's first image; others get seeds that follow from it */
    uint64_t slot_bytes;   /* as slots_bytes_for gives it */
    uint64_t temporary_ns; /* objects freed before they are so old are temporary */
    bool no_follow;        /* the command alone is profiled */
    bool threads;          /* samples are labelled with their threads */
    bool sizes;            /* ... with their size classes */
    bool mimalloc;         /* what is not sampled is served by the private mimalloc */
    bool no_symbolize;
    bool keeps_result;   /* for collector_take_result */
    const char *format;  /* one of format_names */
    struct names *names; /* the caller's; must outlive the collector */
    int folder;          /* relative names start here; the caller's */
    int listener;        /* listening, non-blocking Unix socket; the caller's */
    const char *socket;  /* its assignment in the environment: "HEAPPROF_SOCKET=/path" */
    bool is_profilable;  /* false: without samples, the command's profile is not worth a file */
    /* One line for the user, without newline; may be called in every turn. */
    void (*say)(void *context, const char *line);
    void *context;
};

/* What happened so far, besides the files. */
struct collector_counts {
    uint32_t images;              /* that said hello and were profiled */
    uint32_t forked;              /* forked children that took a slot */
    uint32_t without_slot;        /* images not profiled because all slots were taken */
    uint32_t without_slot_forked; /* the same of forked children */
    uint32_t wrong_version;       /* hellos of a runtime of another version */
    uint32_t strangers;           /* hellos of another user's process */
    bool without_memory;          /* the command has said hello, but could not map its slot */
    uint32_t left_out;            /* profiles of followed processes that have no file to go to */
    uint32_t slots;               /* in the store */
    uint32_t slots_at_once;       /* taken at the same time, at most */
};

/* A collector that is ready to serve. NULL with *error. Freed with collector_close. */
struct collector *collector_open(const struct collector_options *options, struct error *error);
void collector_close(struct collector *collector);

/* Readable when collector_turn has something to do. */
int collector_fd(const struct collector *collector);
/* The command has been started; before its first hello can be served. */
void collector_follow(struct collector *collector, pid_t command);
/* Does what there is to do. Returns the milliseconds after which it wants to be called again even
 * if collector_fd is not readable; -1 for none. */
int collector_turn(struct collector *collector);

/* The command is dead: its profile is finished, and so are those of processes that ended too. */
void collector_command_ended(struct collector *collector);
/* From now on the files of processes that end are left to wait for collector_start_late. */
void collector_leave_rest(struct collector *collector);
/* True while files that are not left to wait are still being made. */
bool collector_is_busy(const struct collector *collector);
/* Writes the files that are being made at once, without names. */
void collector_hurry(struct collector *collector);
/* How far looking up names has come. */
void collector_progress(const struct collector *collector, uint64_t *done, uint64_t *total);

/* True while there may be processes whose profiles are still to come. Not cheap. */
bool collector_has_followers(struct collector *collector);
/* Starts the files that were left to wait for the end of all others. */
void collector_start_late(struct collector *collector);
/* In a forked child that takes the collector over from its parent. False with *error. */
bool collector_take_over(struct collector *collector, struct error *error);
/* Takes what the living processes have recorded up to now for their profiles. */
void collector_cut(struct collector *collector);
/* Processes that are followed, the command not counted. */
uint32_t collector_living(const struct collector *collector);

/* True when the command said hello. */
bool collector_has_met_command(const struct collector *collector);
/* The finished files, newest first; collector_close frees them. */
const struct job *collector_written(const struct collector *collector);
/* A descriptor of all that the command's file was to hold, wherever it went, which the caller is to
 * close; -1 when there is none, or it was not to be kept. */
int collector_take_result(struct collector *collector);
void collector_counts(const struct collector *collector, struct collector_counts *counts);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t collector_now_ns(void);

#endif
