/* store_fixture.h: a store in private memory, as the constructor would find it. */
#ifndef HEAPPROF_TESTS_RUNTIME_STORE_FIXTURE_H
#define HEAPPROF_TESTS_RUNTIME_STORE_FIXTURE_H

#include <string.h>
#include <sys/mman.h>

#include "runtime/hook_store.h"
#ifdef __cplusplus
extern "C" bool counts_start(void); /* hook_counts.h has atomics as only C knows them */
#else
#include "runtime/hook_counts.h"
#endif

/* Makes `store` a fresh one of slot_count slots and attaches slot 0 at rate. */
static inline void store_fixture(uint32_t slot_count, uint64_t slot_bytes, uint64_t rate)
{
    uint64_t offset = store_slots_offset(slot_count);
    uint8_t *base = (uint8_t *)mmap(NULL, offset + slot_count * slot_bytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(base, MAP_FAILED);
    memset(&store, 0, sizeof(store));
    store.directory = (struct store_directory *)base;
    store.directory->slot_count = slot_count;
    store.directory->slot_bytes = slot_bytes;
    store.slots = base + offset;
    store.slot_count = slot_count;
    assert_true(store_geometry_of(slot_bytes, &store.geometry));
    store_attach(0, rate, 1, 1);
    assert_true(counts_start());
}

static inline uint64_t store_fixture_live(void)
{
    return store_live_bytes(store.header->live);
}

static inline uint64_t store_fixture_peak(void)
{
    return store_live_peak(store.header->live);
}

static inline uint32_t store_fixture_epoch(void)
{
    return store_live_epoch(store.header->live);
}

/* What the stack held at the peak, as a reader of the store sees it. */
static inline const struct store_counts *store_fixture_at_peak(uint32_t stack)
{
    const struct store_stack *entry = &store.stacks[stack];
    return entry->saved_epoch == store_fixture_epoch() ? &entry->saved : &entry->inuse;
}

#endif
