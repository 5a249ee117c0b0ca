/* hook_pages.h: what the range asks of the kernel about its pages.
 *
 * The range is one PROT_NONE mapping without swap reservation; memory appears in it by mprotect and
 * leaves it by mapping PROT_NONE afresh over it. Not by mprotect back to PROT_NONE: that would
 * leave the pages' anon_vma behind, which spreads as neighbours merge, and then a core dump of the
 * process walks the whole terabyte. No page of the range is ever unmapped, so no foreign mapping
 * gets in. Hook-safe: raw system calls only. Addresses and lengths are multiples of PAGES_SIZE. */
#ifndef HEAPPROF_RUNTIME_HOOK_PAGES_H
#define HEAPPROF_RUNTIME_HOOK_PAGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "runtime/hook_syscall.h"

#define PAGES_SIZE 4096ul

/* bytes must be at most SIZE_MAX - PAGES_SIZE. */
static inline size_t pages_up(size_t bytes)
{
    return (bytes + PAGES_SIZE - 1) & ~(PAGES_SIZE - 1);
}

/* Address space without memory, at hint if that is free; 0 when there is none. */
static inline uintptr_t pages_reserve(uintptr_t hint, size_t bytes)
{
    long at = raw_syscall6(SYS_mmap, (long)hint, (long)bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return raw_failed(at) ? 0 : (uintptr_t)at;
}

/* Makes pages of the range usable, zero where they were not before; false when the kernel refuses
 * (RLIMIT_DATA, strict overcommit, vm.max_map_count): then nothing has changed. */
static inline bool pages_commit(uintptr_t at, size_t bytes)
{
    return raw_syscall3(SYS_mprotect, (long)at, (long)bytes, PROT_READ | PROT_WRITE) == 0;
}

/* Gives memory back; the pages stay usable and read as zero. False when the kernel refuses (locked
 * pages): then they keep their contents. */
static inline bool pages_clear(uintptr_t at, size_t bytes)
{
    return raw_syscall3(SYS_madvise, (long)at, (long)bytes, MADV_DONTNEED) == 0;
}

/* Gives memory back and makes the pages unusable again, in one step that leaves no hole. False
 * when the kernel refuses: then nothing has changed. */
static inline bool pages_decommit(uintptr_t at, size_t bytes)
{
    return !raw_failed(raw_syscall6(SYS_mmap, (long)at, (long)bytes, PROT_NONE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
                                    0));
}

/* Gives memory and address space back. */
static inline void pages_release(uintptr_t at, size_t bytes)
{
    raw_syscall2(SYS_munmap, (long)at, (long)bytes);
}

/* A part of the range that is made usable from its start on, a step at a time. */
struct pages_growing {
    uintptr_t base;
    size_t limit_bytes; /* never more than this */
    size_t step_bytes;
    _Atomic size_t usable_bytes; /* all below is usable */
};

static inline bool pages_usable(struct pages_growing *growing, size_t bytes)
{
    /* Acquire: pairs with the release below; the pages are usable for whoever sees the mark. */
    return bytes <= atomic_load_explicit(&growing->usable_bytes, memory_order_acquire);
}

/* Makes the first bytes usable. Several threads may do the same step at the same time: each makes
 * everything from the mark on usable, which does no harm twice, and only then raises the mark. */
static inline bool pages_grow(struct pages_growing *growing, size_t bytes)
{
    if (pages_usable(growing, bytes))
        return true;
    size_t from = atomic_load_explicit(&growing->usable_bytes, memory_order_acquire);
    size_t to = (bytes + growing->step_bytes - 1) / growing->step_bytes * growing->step_bytes;
    if (to > growing->limit_bytes)
        to = growing->limit_bytes;
    if (bytes > to)
        return false;
    if (from < to && !pages_commit(growing->base + from, to - from)) {
        to = pages_up(bytes); /* close to a limit, perhaps a part of the step can still be had */
        if (from < to && !pages_commit(growing->base + from, to - from))
            return false;
    }
    while (from < to &&
           !atomic_compare_exchange_weak_explicit(&growing->usable_bytes, &from, to,
                                                  memory_order_acq_rel, memory_order_acquire))
        continue;
    return true;
}

#endif
