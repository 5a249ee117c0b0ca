/* messages.h: what crosses the Unix socket, for each process image, at start-up.
 *
 * Stream socket; the runtime sends one hello and waits (bounded) for one reply, which carries the
 * store's memfd as SCM_RIGHTS when status is MESSAGE_OK. Then both sides close. Who the process is
 * the launcher learns from SO_PEERCRED and /proc, not from the message. Fixed-width fields in the
 * machine's byte order: both ends are on one machine. */
#ifndef HEAPPROF_PROTO_MESSAGES_H
#define HEAPPROF_PROTO_MESSAGES_H

#include <stdint.h>

#define MESSAGE_MAGIC 0x6c6c6568666f7270ull /* "profhell" */
#define MESSAGE_VERSION 2u

/* Environment variables of the runtime; each begins HEAPPROF_. */
#define HEAPPROF_ENV_SOCKET "HEAPPROF_SOCKET" /* path of the launcher's socket */
/* The entry of LD_PRELOAD, behind ours, that --allocator has put there; unset without. */
#define HEAPPROF_ENV_ALLOCATOR "HEAPPROF_ALLOCATOR"

/* How long the runtime waits for connect, send and reply together before it stays inert. */
#define MESSAGE_TIMEOUT_MS 2000

struct message_hello {
    uint64_t magic;
    uint32_t version;
    uint32_t size;    /* of this struct */
    uint32_t pid;     /* as the process sees itself */
    uint32_t trouble; /* enum message_trouble */
    uint32_t reserved[2];
};

/* A message with trouble is not a hello and has no reply: an image that has its slot tells, over a
 * connection of its own, what it could not do. It goes on without that. */
enum message_trouble {
    MESSAGE_TROUBLE_NONE = 0,
    MESSAGE_TROUBLE_MIMALLOC_LOAD = 1, /* libheapprof-mimalloc.so cannot be loaded */
    MESSAGE_TROUBLE_MIMALLOC_SPACE = 2 /* there is no address space or memory for its heap */
};

enum message_status {
    MESSAGE_OK = 0,
    MESSAGE_NOT_FOLLOWED = 1, /* this process is not to be profiled: stay inert */
    MESSAGE_NO_SLOT = 2       /* all slots are taken: stay inert */
};

enum message_flags {
    MESSAGE_FLAG_NO_FOLLOW = 1u << 0, /* forked children stay inert; exec'd ones never see us */
    MESSAGE_FLAG_MIMALLOC = 1u << 1,  /* the private mimalloc serves what is not sampled */
    MESSAGE_FLAG_THREADS = 1u << 2,   /* label what is recorded with its thread */
    MESSAGE_FLAG_SIZES = 1u << 3      /* ... with its size class */
};

struct message_reply {
    uint64_t magic;
    uint32_t version;
    uint32_t size;   /* of this struct */
    uint32_t status; /* enum message_status */
    uint32_t flags;  /* enum message_flags */
    uint32_t slot;   /* this image's slot, state STORE_ENTRY_ASSIGNED */
    uint32_t slot_count;
    uint64_t slot_bytes;
    uint64_t rate;   /* mean sampling gap in bytes, at least 1 */
    uint64_t seed;   /* of the sampling generator */
    uint64_t tsc_hz; /* of the time stamp counter; 0: it is not to be trusted on this machine */
    uint64_t temporary_ns; /* an object freed before it is so old is a temporary one */
};

_Static_assert(sizeof(struct message_hello) == 32, "message_hello");
_Static_assert(sizeof(struct message_reply) == 72, "message_reply");

#endif
