/* collector_slots.c: the shared store as its owner, the launcher, sees it.
 *
 * F_SEAL_SEAL is left off until the end: sealing against writes is refused by the kernel while any
 * process maps the store shared and writable, which is the one way to learn of a forked child that
 * holds it without having recorded anything (memfd_create(2), fcntl(2) F_ADD_SEALS). The target
 * closes its descriptor at once, so it adds no seals in between. */
#include "cli/collector_slots.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "proto/arena.h"
#include "proto/error.h"

#define MAX_STORE_BYTES (64ull << 30)
#define MAX_RUN_SLOTS 1024u

uint64_t slots_bytes_for(uint64_t max_memory)
{
    if (max_memory < STORE_MIN_SLOT_BYTES)
        return STORE_MIN_SLOT_BYTES;
    if (max_memory > STORE_MAX_SLOT_BYTES)
        return STORE_MAX_SLOT_BYTES;
    return store_page_up(max_memory);
}

static uint64_t store_bytes(uint32_t count, uint64_t slot_bytes)
{
    return store_slots_offset(count) + count * slot_bytes;
}

/* How many slots to make: a file size limit holds for the store too. */
static uint32_t slot_count(uint64_t slot_bytes, uint64_t file_limit)
{
    uint64_t count = MAX_STORE_BYTES / slot_bytes;
    count = count < MAX_RUN_SLOTS ? count : MAX_RUN_SLOTS;
    while (count > 1 && store_bytes((uint32_t)count, slot_bytes) > file_limit)
        count /= 2;
    return (uint32_t)count;
}

/* Makes the memfd under the hard file size limit: the soft one, which may be lower, is for what the
 * command writes. False with errno. */
static bool make_store(struct slots *slots)
{
    struct rlimit limit, raised;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
        return false;
    raised = limit;
    raised.rlim_cur = limit.rlim_max;
    slots->count = slot_count(slots->slot_bytes, limit.rlim_max);
    slots->directory_bytes = store_slots_offset(slots->count);
    slots->fd = memfd_create("heapprof", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (slots->fd < 0)
        return false;
    setrlimit(RLIMIT_FSIZE, &raised);
    bool ok = ftruncate(slots->fd, (off_t)store_bytes(slots->count, slots->slot_bytes)) == 0;
    int saved = errno;
    setrlimit(RLIMIT_FSIZE, &limit);
    errno = saved;
    return ok && fcntl(slots->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0;
}

bool slots_map(struct slots *slots, struct error *error)
{
    void *at = mmap(NULL, slots->directory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, slots->fd, 0);
    if (at == MAP_FAILED) {
        error_set_errno(error, NULL, errno, "cannot map the store");
        return false;
    }
    /* A forked helper of ours must not look like a process that may still record. */
    madvise(at, slots->directory_bytes, MADV_DONTFORK);
    slots->directory = at;
    return true;
}

bool slots_open(struct slots *slots, uint64_t slot_bytes, struct error *error)
{
    *slots = (struct slots){.fd = -1, .slot_bytes = slot_bytes};
    if (!make_store(slots)) {
        error_set_errno(error, NULL, errno, "cannot make the shared store%s",
                        errno == EFBIG ? " under this file size limit (ulimit -f)" : "");
        slots_close(slots);
        return false;
    }
    if (!slots_map(slots, error)) {
        slots_close(slots);
        return false;
    }
    slots->retired_at = heap_alloc(slots->count * sizeof(*slots->retired_at));
    memset(slots->retired_at, 0, slots->count * sizeof(*slots->retired_at));
    slots->directory->magic = STORE_MAGIC;
    slots->directory->version = STORE_VERSION;
    slots->directory->slot_count = slots->count;
    slots->directory->slot_bytes = slot_bytes;
    slots->directory->slots_offset = slots->directory_bytes;
    return true;
}

void slots_close(struct slots *slots)
{
    if (slots->directory)
        munmap(slots->directory, slots->directory_bytes);
    if (slots->fd >= 0)
        close(slots->fd);
    free(slots->retired_at);
    *slots = (struct slots){.fd = -1};
}

uint64_t slots_offset(const struct slots *slots, uint32_t slot)
{
    return slots->directory_bytes + slot * slots->slot_bytes;
}

uint32_t slots_state(const struct slots *slots, uint32_t slot)
{
    /* Acquire: pairs with the release by which a forked child publishes its entry. */
    return __atomic_load_n(&slots->directory->entries[slot].state, __ATOMIC_ACQUIRE);
}

static bool take(struct slots *slots, uint32_t slot)
{
    uint32_t expected = STORE_ENTRY_FREE;
    /* Acquire: pairs with the release in slots_retire; forked children compete for the slot. */
    return __atomic_compare_exchange_n(&slots->directory->entries[slot].state, &expected,
                                       STORE_ENTRY_ASSIGNED, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

int slots_assign(struct slots *slots)
{
    for (;;) {
        uint32_t best = slots->count;
        for (uint32_t i = 0; i < slots->count; i++) {
            if (slots_state(slots, i) == STORE_ENTRY_FREE &&
                (best == slots->count || slots->retired_at[i] < slots->retired_at[best]))
                best = i;
        }
        if (best == slots->count)
            return -1;
        if (take(slots, best))
            return (int)best;
    }
}

void slots_retire(struct slots *slots, uint32_t slot)
{
    struct store_entry *entry = &slots->directory->entries[slot];
    __atomic_store_n(&entry->state, STORE_ENTRY_RETIRED, __ATOMIC_RELAXED);
    if (fallocate(slots->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)slots_offset(slots, slot), (off_t)slots->slot_bytes) != 0)
        return; /* never hand out a slot with old data in it */
    slots->retired_at[slot] = ++slots->retire_clock;
    entry->pid = 0;
    entry->parent_slot = 0;
    entry->fork_ordinal = 0;
    entry->start_ns = 0;
    __atomic_fetch_add(&entry->generation, 1, __ATOMIC_RELAXED);
    /* Release: pairs with the compare and swap that takes the slot; it is clear by then. */
    __atomic_store_n(&entry->state, STORE_ENTRY_FREE, __ATOMIC_RELEASE);
}

bool slots_in_use(struct slots *slots)
{
    munmap(slots->directory, slots->directory_bytes);
    slots->directory = NULL;
    if (fcntl(slots->fd, F_ADD_SEALS, F_SEAL_WRITE) == 0)
        return false;
    return slots_map(slots, NULL);
}
