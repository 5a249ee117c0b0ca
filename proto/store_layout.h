/* store_layout.h: the shared store, as the runtime writes it and the collector reads it.
 *
 * One sparse, sealed memfd a run, made by the launcher:
 *
 *     0                  store_directory: header, then one store_entry a slot
 *     slots_offset       slot 0 | slot 1 | ...   each slot_bytes long
 *
 * One process image (a program after exec, or a forked child) writes one slot:
 *
 *     store_header | sizes | threads | modules | text | index | nodes | stacks
 *
 * where each part begins and how many elements it has follows from slot_bytes alone
 * (store_geometry_of); the reader never takes an offset from the store. The target may scribble
 * over all of it: the reader treats every word as hostile.
 *
 * A stack is a node of a prefix tree: (parent node, pc), root first. Node 0 is the root above all
 * roots and has no pc. Nodes are immutable once published and found through `index`, whose heads
 * start a 4-way hash trie over the nodes' child links, so memory is touched as stacks appear.
 * All words shared between processes are accessed with atomics; sizes are fixed. */
#ifndef HEAPPROF_PROTO_STORE_LAYOUT_H
#define HEAPPROF_PROTO_STORE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#define STORE_MAGIC 0x31464f5250504548ull /* "HEPPROF1" */
#define STORE_VERSION 2u
#define STORE_PAGE 4096u

#define STORE_MIN_SLOT_BYTES (1u << 20)
#define STORE_DEFAULT_SLOT_BYTES (64ull << 20)
#define STORE_MAX_SLOT_BYTES (16ull << 30)
#define STORE_MAX_SLOTS 4096u

/* Frames that are not addresses: the pc of a node. Those from STORE_FRAME_LABEL on are no frames
 * at all but labels of the samples below them. */
enum store_frame {
    STORE_FRAME_NONE = 0,
    STORE_FRAME_TRUNCATED = 1,    /* "[truncated]": the walk ended before the root */
    STORE_FRAME_OTHER_STACKS = 2, /* "[other stacks]": the stack table was full */
    STORE_FRAME_NO_STACK = 3,     /* "[no stack]": the stack could not be walked at all */
    STORE_FRAME_FIRST_PC = 4096   /* from here on a pc */
};

/* No pc of a program: in the kernel's half. The kind of label and its value follow. */
#define STORE_FRAME_LABEL 0x800000000000ull
#define STORE_FRAME_THREAD 0x800000000000ull /* + index of a store_thread */
#define STORE_FRAME_SIZE 0x900000000000ull   /* + size class */
#define STORE_FRAME_SHARD 0xa00000000000ull  /* + number: no label, one stack's counts in parts */
#define STORE_FRAME_LABEL_VALUE 0x0fffffffffffull

/* Why something was not recorded as it should; each row: name, words for the summary. */
#define STORE_LOSSES(X)                                                                            \
    X(RANGE_FULL, "not sampled: no room in the sampled range")                                     \
    X(STACK_TABLE_FULL, "charged to [other stacks]: stack table full")                             \
    X(DEPTH_CUT, "stacks cut at the depth limit")                                                  \
    X(UNWIND_INCOMPLETE, "stacks that end early: no unwind information")                           \
    X(NO_STACK, "recorded without a stack: too little stack left or no buffer free")               \
    X(REENTRANT, "not recorded: a signal handler allocated inside the profiler")                   \
    X(LOCK_FORCED, "changes made although the stack's lock was never given back")                  \
    X(MODULE_TABLE_FULL, "modules not recorded: module table full")                                \
    X(THREAD_TABLE_FULL, "threads without a label: thread table full")

enum store_loss {
#define STORE_LOSS_NAME(name, words) STORE_LOSS_##name,
    STORE_LOSSES(STORE_LOSS_NAME)
#undef STORE_LOSS_NAME
        STORE_LOSS_COUNT
};

/* --- directory --------------------------------------------------------------------------- */

enum store_entry_state {
    STORE_ENTRY_FREE = 0,
    STORE_ENTRY_ASSIGNED = 1, /* given to an image that said hello */
    STORE_ENTRY_CLAIMED = 2,  /* being filled by a forked child, pid not yet known */
    STORE_ENTRY_FORKED = 3,   /* claimed by the forked child with entry.pid */
    STORE_ENTRY_RETIRED = 4   /* the collector is done with it; cleared, then FREE again */
};

/* 64 bytes. state is claimed by compare and swap FREE -> CLAIMED; the rest is the claimer's. */
struct store_entry {
    uint32_t state; /* enum store_entry_state */
    uint32_t pid;   /* as the process sees itself */
    uint32_t parent_slot;
    uint32_t fork_ordinal; /* 1 for the first child that claimed in this run, ... */
    uint64_t generation;   /* raised whenever the slot is cleared for reuse */
    uint64_t start_ns;     /* CLOCK_MONOTONIC when the image started recording */
    uint64_t reserved[4];
};

struct store_directory {
    uint64_t magic;
    uint32_t version;
    uint32_t slot_count;
    uint64_t slot_bytes;
    uint64_t slots_offset;
    uint32_t wake;           /* futex: raised and woken when an entry or a module table changes */
    uint32_t fork_ordinal;   /* last one handed out */
    uint32_t claim_failures; /* forked children that found no free slot */
    uint32_t reserved[5];
    struct store_entry entries[]; /* slot_count */
};

/* --- slot -------------------------------------------------------------------------------- */

/* Live bytes, highest live bytes and the peak's number, moved together by one 16-byte compare and
 * swap: low = live : 48 | epoch low : 16, high = peak : 48 | epoch high : 16. */
struct store_live {
    uint64_t low, high;
} __attribute__((aligned(16)));

#define STORE_LIVE_MASK ((1ull << 48) - 1)

/* 0 while it is below that, which late changes may make it (see live_is_late). */
static inline uint64_t store_live_bytes(struct store_live live)
{
    uint64_t bytes = live.low & STORE_LIVE_MASK;
    return bytes >> 47 != 0 ? 0 : bytes;
}

static inline uint64_t store_live_peak(struct store_live live)
{
    return live.high & STORE_LIVE_MASK;
}

static inline uint32_t store_live_epoch(struct store_live live)
{
    return (uint32_t)(live.low >> 48) | (uint32_t)(live.high >> 48) << 16;
}

/* How the process tells the time between two events: ticks, as tick_kind says. */
enum store_tick_kind {
    STORE_TICK_NS = 0, /* CLOCK_MONOTONIC, nanoseconds */
    STORE_TICK_TSC = 1 /* the processor's time stamp counter, which runs at one speed */
};

struct store_header {
    uint64_t magic;
    uint32_t version;
    uint32_t pid;
    uint64_t slot_bytes;
    uint64_t rate;     /* mean sampling gap in bytes; 1 records everything */
    uint64_t start_ns; /* CLOCK_MONOTONIC */
    uint64_t peak_ns;  /* CLOCK_MONOTONIC, when live last passed the old peak */
    struct store_live live;
    uint32_t node_count;   /* nodes handed out, node 0 included; may pass the capacity */
    uint32_t stack_count;  /* stacks handed out, stack 0 (none) included; may pass the capacity */
    uint32_t module_count; /* modules handed out; may pass the capacity */
    uint32_t text_used;    /* bytes of module paths; may pass the capacity */
    uint64_t losses[STORE_LOSS_COUNT];     /* events */
    uint64_t loss_bytes[STORE_LOSS_COUNT]; /* bytes in these events, 0 where that has no sense */
    uint64_t runtime_bytes; /* private memory the runtime holds in the target besides the store */
    uint64_t origin_ticks;  /* what is subtracted from each time before it is stored */
    uint32_t tick_kind;     /* enum store_tick_kind */
    uint32_t thread_count;  /* threads handed out; may pass the capacity */
    /* Bytes asked for, counted exactly by each thread up to its last sample; a thread that is in
     * counted_threads lacks what it has asked for since, rate bytes on average. Not at rate 1. */
    uint64_t counted_bytes;
    uint64_t counted_threads; /* threads that have drawn a gap */
    uint32_t live_is_late;    /* live has not seen all changes in order: the peak is what the stacks
                                 held at it, and live may be off by as much as hook_live.h says */
    uint32_t reserved;
    /* As told at the process' end, in bytes; 0: not told. */
    uint64_t most_rss;                            /* resident at most */
    uint64_t mimalloc_bytes, mimalloc_most_bytes; /* committed by the private mimalloc */
};

/* Estimates add up: objects in 1/65536, bytes whole. */
struct store_counts {
    uint64_t objects_q16;
    uint64_t bytes;
    uint64_t samples;
};

/* A sum of 128 bits. */
struct store_wide {
    uint64_t low, high;
};

/* Variances of a store_counts. */
struct store_variance {
    struct store_wide bytes;   /* bytes squared */
    struct store_wide objects; /* objects squared, in 1/65536 */
};

/* Of the objects freed. All times are ticks. */
struct store_lifetimes {
    struct store_wide sum; /* ticks times objects in 1/65536 */
    uint64_t shortest;     /* + 1; 0 when there is none */
    uint64_t longest;
    uint64_t temporary_q16; /* objects freed within the temporary threshold */
    uint64_t foreign_q16;   /* objects freed by another thread than the one they came from */
};

/* 256 bytes. sequence is odd while a writer holds the stack (it is its lock too). saved holds what
 * inuse was when the peak numbered saved_epoch was reached: if saved_epoch is the epoch in
 * store_header.live, the stack's peak values are `saved`, else they are `inuse`. born is the sum of
 * the times at which the objects in use were allocated, in ticks times objects in 1/65536. The
 * variances stand apart, since at rate 1 nothing touches them. */
struct store_stack {
    uint32_t sequence;
    uint32_t saved_epoch;
    uint32_t node; /* leaf node; 0 while the stack is being made */
    uint32_t depth;
    struct store_counts alloc;
    struct store_counts inuse;
    struct store_counts saved;
    struct store_wide born;
    struct store_lifetimes lifetimes;
    struct store_variance alloc_variance;
    struct store_variance inuse_variance;
    struct store_variance saved_variance;
    uint64_t reserved;
};

/* The sizes that were asked for: what was allocated by size class, as estimates. Threads add to
 * one of several copies, so that they do not wait for each other; the reader adds these up. Class
 * k holds the requests of more than 2^(k-1) and at most 2^k bytes, class 0 those of 0 and 1. */
#define STORE_SIZE_CLASSES 48u
#define STORE_SIZE_SHARDS 8u

struct store_size {
    uint64_t objects_q16;
    uint64_t bytes;
};

struct store_sizes {
    struct store_size of_class[STORE_SIZE_SHARDS][STORE_SIZE_CLASSES];
};

static inline uint32_t store_size_class(uint64_t size)
{
    uint32_t bits = size <= 1 ? 0 : 64u - (uint32_t)__builtin_clzll(size - 1);
    return bits < STORE_SIZE_CLASSES ? bits : STORE_SIZE_CLASSES - 1;
}

/* 32 bytes. pc_word: low 48 bits the pc (call sites: return address - 1; interrupted frames: the
 * pc itself) or a store_frame; high 16 bits 0, or 1 + the index of the module that the pc was in
 * before that module was unloaded. stack is the stack that ends here, 0 for none. */
struct store_node {
    uint64_t pc_word;
    uint32_t parent;
    uint32_t stack;
    uint32_t child[4]; /* next nodes in the hash trie of this head, 0 for none */
};

/* 32 bytes. A thread that labels name. name is the one that the kernel had for it at its first
 * sample, or with is_named the one that the program has given it since by pthread_setname_np; not
 * terminated when it is full. */
struct store_thread {
    uint32_t tid; /* as the kernel names it; 0 while the entry is being made */
    uint32_t is_named;
    char name[16];
    uint64_t reserved;
};

#define STORE_PC_BITS 48
#define STORE_PC_MASK ((1ull << STORE_PC_BITS) - 1)

enum store_module_state { STORE_MODULE_EMPTY = 0, STORE_MODULE_LOADED = 1, STORE_MODULE_GONE = 2 };

#define STORE_BUILD_ID_BYTES 32

/* 128 bytes. One executable segment of a loaded object; state is written last. path is empty for
 * the main program. */
struct store_module {
    uint32_t state;
    uint32_t path_offset; /* into the slot's text */
    uint32_t path_length;
    uint32_t build_id_length; /* 0 to STORE_BUILD_ID_BYTES */
    uint64_t text_start;      /* page aligned, as in /proc/PID/maps */
    uint64_t text_limit;
    uint64_t file_offset; /* of text_start */
    uint64_t load_bias;
    uint8_t build_id[STORE_BUILD_ID_BYTES];
    uint64_t reserved[6];
};

_Static_assert(sizeof(struct store_entry) == 64, "store_entry");
_Static_assert(sizeof(struct store_directory) == 64, "store_directory");
_Static_assert(sizeof(struct store_counts) == 24, "store_counts");
_Static_assert(sizeof(struct store_variance) == 32, "store_variance");
_Static_assert(sizeof(struct store_lifetimes) == 48, "store_lifetimes");
_Static_assert(sizeof(struct store_stack) == 256, "store_stack");
_Static_assert(sizeof(struct store_thread) == 32, "store_thread");
_Static_assert(sizeof(struct store_node) == 32, "store_node");
_Static_assert(sizeof(struct store_module) == 128, "store_module");
_Static_assert(sizeof(struct store_header) <= STORE_PAGE, "store_header");

/* Where the parts of a slot begin, in bytes from the slot's start, and how many elements each
 * holds. Pure arithmetic. */
struct store_geometry {
    uint64_t sizes_offset, threads_offset, modules_offset, text_offset, index_offset, nodes_offset,
        stacks_offset;
    uint32_t thread_capacity;
    uint32_t module_capacity;
    uint32_t text_capacity;  /* bytes */
    uint32_t index_capacity; /* heads, uint32_t each, a power of two */
    uint32_t node_capacity;
    uint32_t stack_capacity;
};

static inline uint64_t store_page_up(uint64_t bytes)
{
    return (bytes + STORE_PAGE - 1) & ~(uint64_t)(STORE_PAGE - 1);
}

/* False when slot_bytes is outside [STORE_MIN_SLOT_BYTES, STORE_MAX_SLOT_BYTES] or not a multiple
 * of STORE_PAGE. Six nodes a stack: stacks of one program share most of their frames. */
static inline bool store_geometry_of(uint64_t slot_bytes, struct store_geometry *geometry)
{
    if (slot_bytes < STORE_MIN_SLOT_BYTES || slot_bytes > STORE_MAX_SLOT_BYTES ||
        slot_bytes % STORE_PAGE != 0)
        return false;
    bool small = slot_bytes < (16u << 20);
    geometry->module_capacity = small ? 512 : 4096;
    geometry->text_capacity = small ? 64u << 10 : 512u << 10;
    geometry->index_capacity = small ? 1u << 12 : 1u << 16;
    geometry->thread_capacity = small ? 512 : 16384;
    geometry->sizes_offset = STORE_PAGE;
    geometry->threads_offset = geometry->sizes_offset + store_page_up(sizeof(struct store_sizes));
    geometry->modules_offset =
        geometry->threads_offset +
        store_page_up(geometry->thread_capacity * sizeof(struct store_thread));
    geometry->text_offset = geometry->modules_offset +
                            store_page_up(geometry->module_capacity * sizeof(struct store_module));
    geometry->index_offset = geometry->text_offset + geometry->text_capacity;
    geometry->nodes_offset =
        geometry->index_offset + store_page_up(geometry->index_capacity * sizeof(uint32_t));
    uint64_t left = slot_bytes - geometry->nodes_offset - STORE_PAGE;
    uint64_t stacks = left / (6 * sizeof(struct store_node) + sizeof(struct store_stack));
    geometry->stack_capacity = (uint32_t)stacks;
    geometry->node_capacity = (uint32_t)(stacks * 6);
    geometry->stacks_offset =
        store_page_up(geometry->nodes_offset + stacks * 6 * sizeof(struct store_node));
    return true;
}

/* The directory's size in bytes, a multiple of STORE_PAGE: slot 0 begins there. */
static inline uint64_t store_slots_offset(uint32_t slot_count)
{
    return store_page_up(sizeof(struct store_directory) +
                         (uint64_t)slot_count * sizeof(struct store_entry));
}

#endif
