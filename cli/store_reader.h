/* store_reader.h: one slot of the shared store becomes a profile.
 *
 * The slot was written by the profiled process, which may have scribbled over it: nothing in it is
 * believed. It is first copied (so that it cannot change under the reader, and holes of the sparse
 * store stay holes), then every count, offset and index is checked against the slot's geometry.
 * A slot that is damaged in places gives a profile with what is left. Not thread-safe. */
#ifndef HEAPPROF_CLI_STORE_READER_H
#define HEAPPROF_CLI_STORE_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/store_layout.h"

struct error;
struct profile;
struct timeline;

/* A private copy of what is in use of a slot. The counts are clamped to what was copied; all the
 * rest is as the process left it. */
struct store_snapshot {
    struct store_header header;
    struct store_module *modules;
    struct store_node *nodes;
    struct store_stack *stacks;
    struct store_sizes sizes;
    struct store_thread *threads;
    char *text; /* text_size bytes, not terminated */
    uint32_t thread_count, module_count, node_count, stack_count, text_size;
};

/* Copies the slot of slot_bytes at offset of the store. False with *error when it cannot be read
 * or its header is overwritten. A slot that was never written to is an empty snapshot. Freed with
 * store_snapshot_free. */
bool store_snapshot_read(struct store_snapshot *snapshot, int store, uint64_t offset,
                         uint64_t slot_bytes, struct error *error);
void store_snapshot_free(struct store_snapshot *snapshot);

/* Whether the runtime has begun to write the slot at offset: else it could not map it. */
bool store_slot_is_started(int store, uint64_t offset);

/* Whether the slot at offset has recorded anything; reads its header only. */
bool store_slot_has_samples(int store, uint64_t offset);

/* What the launcher knows of the process image behind a slot. */
struct store_image {
    const char *executable;   /* path of the main program, "" when not known */
    const char *command_line; /* for the comments, "" when not known */
    uint32_t pid;             /* as the launcher sees it */
    uint32_t fork_ordinal;    /* 0 for an image that said hello, else the forked child's number */
    uint64_t rate;            /* mean sampling gap, bytes */
    uint64_t seed;            /* of the image, or of the image it was forked from */
    uint64_t start_ns;        /* CLOCK_MONOTONIC when it was first seen */
    uint64_t end_ns;          /* CLOCK_MONOTONIC when it ended, or now */
    uint64_t end_tsc;         /* the time stamp counter at end_ns */
    uint64_t tsc_hz;          /* its ticks a second; 0: not used by this run */
    uint64_t temporary_ns;    /* the temporary threshold that the runtime was given */
    int64_t start_time_ns;    /* start_ns as time since 1970 */
    const struct timeline *timeline; /* NULL: none */
    uint64_t peak_rss;               /* bytes, as seen by the launcher; 0: not seen */
    /* The name of the thread of this index, good until the next call; NULL when it is not known.
     * May itself be NULL. */
    const char *(*thread_name)(void *context, uint32_t index, const struct store_thread *thread);
    void *context;
    bool is_running; /* it goes on: the profile's default is what is in use now */
};

/* Positions of the sample types in a heap profile. */
enum store_value {
    STORE_ALLOC_OBJECTS,
    STORE_ALLOC_SPACE,
    STORE_INUSE_OBJECTS,
    STORE_INUSE_SPACE,
    STORE_PEAK_OBJECTS,
    STORE_PEAK_SPACE,
    STORE_VALUE_COUNT
};

/* Sums over a profile. Sums that do not fit stay at the largest number. */
struct store_totals {
    int64_t values[STORE_VALUE_COUNT];
    double alloc_variance, inuse_variance, peak_variance; /* of the bytes, in bytes squared */
    uint64_t samples;                                     /* sampled allocations */
    uint64_t inuse_samples, peak_samples;                 /* objects behind these values */
    uint64_t peak_bytes;                                  /* highest live bytes, as the runtime kept
                                                             it: the peak values add up to it */
    uint64_t counted_bytes;   /* asked for, counted exactly up to each thread's last sample */
    uint64_t counted_threads; /* threads that asked for more since then: rate bytes on average */
    uint64_t peak_after_ns;   /* from start_ns to the peak */
    uint64_t losses[STORE_LOSS_COUNT]; /* events */
    uint64_t loss_bytes[STORE_LOSS_COUNT];
    uint64_t mimalloc_bytes, mimalloc_most_bytes; /* committed by the private mimalloc at the end
                                                     and at most; 0: not known */
    uint64_t peak_rss;       /* bytes resident at most, as far as known; 0: not at all */
    uint64_t runtime_bytes;  /* memory of the runtime in the process, besides the store */
    uint32_t stack_count;    /* stacks in the profile */
    uint32_t module_count;   /* executable segments seen */
    uint32_t damaged_stacks; /* stacks with parts that made no sense */
};

/* The profile of a snapshot, unsymbolized: the six heap sample types, mappings (main program
 * first, then by address), comments. Never NULL; freed with profile_free. The estimates are those
 * that the runtime summed up: objects in 1/65536 are rounded once, here. totals may be NULL. */
struct profile *store_profile(const struct store_snapshot *snapshot,
                              const struct store_image *image, struct store_totals *totals);

#endif
