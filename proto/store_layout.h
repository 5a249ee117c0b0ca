/* store_layout.h: the shared store, as the runtime writes it and the collector reads it.
 *
 * One sparse, sealed memfd a run, made by the launcher:
 *
 *     0                  store_directory: header, then one store_entry a slot
 *     slots_offset       slot 0 | slot 1 | ...   each slot_bytes long
 *
 * One process image (a program after exec, or a forked child) writes one slot:
 *
 *     store_header | modules | text | index | nodes | stacks
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
#define STORE_VERSION 1u
#define STORE_PAGE 4096u

#define STORE_MIN_SLOT_BYTES (1u << 20)
#define STORE_DEFAULT_SLOT_BYTES (64ull << 20)
#define STORE_MAX_SLOT_BYTES (16ull << 30)
#define STORE_MAX_SLOTS 4096u

/* Frames that are not addresses: the pc of a node. */
enum store_frame {
    STORE_FRAME_NONE = 0,
    STORE_FRAME_TRUNCATED = 1,    /* "[truncated]": the walk ended before the root */
    STORE_FRAME_OTHER_STACKS = 2, /* "[other stacks]": the stack table was full */
    STORE_FRAME_NO_STACK = 3,     /* "[no stack]": the stack could not be walked at all */
    STORE_FRAME_FIRST_PC = 4096   /* from here on a pc */
};

/* Why something was not recorded as it should; each row: name, words for the summary. */
#define STORE_LOSSES(X)                                                                            \
    X(RANGE_FULL, "not sampled: no room in the sampled range")                                     \
    X(STACK_TABLE_FULL, "charged to [other stacks]: stack table full")                             \
    X(DEPTH_CUT, "stacks cut at the depth limit")                                                  \
    X(UNWIND_INCOMPLETE, "stacks that end early: no unwind information")                           \
    X(NO_STACK, "recorded without a stack: too little stack left or no buffer free")               \
    X(REENTRANT, "not recorded: a signal handler allocated inside the profiler")                   \
    X(LOCK_FORCED, "changes made although the stack's lock was never given back")                  \
    X(MODULE_TABLE_FULL, "modules not recorded: module table full")

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
};

/* Estimates add up: objects in 1/65536, bytes whole, variance of the bytes in 1/65536 of rate². */
struct store_counts {
    uint64_t objects_q16;
    uint64_t bytes;
    uint64_t variance_q16;
    uint64_t samples;
};

/* 128 bytes. sequence is odd while a writer holds the stack (it is its lock too). saved holds what
 * inuse was when the peak numbered saved_epoch was reached: if saved_epoch is the epoch in
 * store_header.live, the stack's peak values are `saved`, else they are `inuse`. */
struct store_stack {
    uint32_t sequence;
    uint32_t saved_epoch;
    uint32_t node; /* leaf node; 0 while the stack is being made */
    uint32_t depth;
    struct store_counts alloc;
    struct store_counts inuse;
    struct store_counts saved;
    uint64_t reserved[2];
};

/* 32 bytes. pc_word: low 48 bits the pc (call sites: return address - 1; interrupted frames: the
 * pc itself) or a store_frame; high 16 bits 0, or 1 + the index of the module that the pc was in
 * before that module was unloaded. stack is the stack that ends here, 0 for none. */
struct store_node {
    uint64_t pc_word;
    uint32_t parent;
    uint32_t stack;
    uint32_t child[4]; /* next nodes in the hash trie of this head, 0 for none */
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
_Static_assert(sizeof(struct store_counts) == 32, "store_counts");
_Static_assert(sizeof(struct store_stack) == 128, "store_stack");
_Static_assert(sizeof(struct store_node) == 32, "store_node");
_Static_assert(sizeof(struct store_module) == 128, "store_module");
_Static_assert(sizeof(struct store_header) <= STORE_PAGE, "store_header");

/* Where the parts of a slot begin, in bytes from the slot's start, and how many elements each
 * holds. Pure arithmetic. */
struct store_geometry {
    uint64_t modules_offset, text_offset, index_offset, nodes_offset, stacks_offset;
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
    geometry->modules_offset = STORE_PAGE;
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
