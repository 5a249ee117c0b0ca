/* hook_mimalloc.c: the memory of the private mimalloc, given piece by piece.
 *
 * Hook-safe. Each piece is made usable before mimalloc gets it: it commits by mprotect, which then
 * cannot fail, whereas 2.0.9 crashes when the kernel refuses it (RLIMIT_DATA, strict overcommit).
 * Told that the pieces are not committed, it still gives pages back, by madvise(MADV_DONTNEED); so
 * all that it was given stays readable. Not all at once: a core dump of the process walks what is
 * usable, page by page. */
#include "runtime/hook_mimalloc.h"

#include <stdatomic.h>

#include "runtime/hook_pages.h"

enum {
    PIECES_MAX = 60, /* mimalloc 2 has room for 64 arenas */
    FIRST_PIECE = 2, /* segments; each further piece doubles what there is */
    WAIT_SPINS = 1 << 20
};

struct mimalloc_calls mimalloc;

static uintptr_t part_base;
static size_t part_bytes;
static bool huge_pages;
static _Atomic size_t given_bytes; /* from part_base on; the rest has no memory */
static int pieces;
static _Atomic bool giving;

static size_t whole_segments(uint64_t bytes)
{
    return (size_t)bytes / MIMALLOC_SEGMENT_BYTES * MIMALLOC_SEGMENT_BYTES;
}

/* The next piece, of bytes or as large as the kernel grants. */
static bool give_piece(size_t given, size_t bytes, bool keeps)
{
    mi_arena_id_t arena;
    for (; bytes != 0 && pieces < PIECES_MAX; bytes = whole_segments(bytes / 2)) {
        uintptr_t at = part_base + given;
        if (!pages_commit(at, bytes))
            continue;
        if (huge_pages)
            raw_syscall3(SYS_madvise, (long)at, (long)bytes, MADV_HUGEPAGE);
        pieces++;
        /* Release: pairs with the acquire in mimalloc_given_bytes; all below is readable. */
        atomic_store_explicit(&given_bytes, given + bytes, memory_order_release);
        return mimalloc.mi_manage_os_memory_ex((void *)at, bytes, keeps, false, true, -1, false,
                                               &arena);
    }
    return false;
}

bool mimalloc_start(const struct mimalloc_calls *calls, uintptr_t base, size_t bytes,
                    const struct mimalloc_wishes *wishes)
{
    mimalloc = *calls;
    part_base = base;
    part_bytes = bytes;
    uint64_t reserve = wishes != NULL ? wishes->reserve_bytes : 0;
    huge_pages = wishes != NULL && wishes->huge_pages;
    if (reserve > bytes)
        reserve = bytes;
    bool kept =
        reserve != 0 && give_piece(0, whole_segments(reserve + MIMALLOC_SEGMENT_BYTES - 1), true);
    return kept || mimalloc_grow();
}

bool mimalloc_grow(void)
{
    /* Who is at it is inside the gate and on another thread, so it goes on. */
    if (atomic_exchange_explicit(&giving, true, memory_order_acquire)) {
        int spins = 0;
        while (spins < WAIT_SPINS && atomic_load_explicit(&giving, memory_order_relaxed))
            spins++;
        return spins < WAIT_SPINS;
    }
    size_t given = atomic_load_explicit(&given_bytes, memory_order_relaxed);
    size_t bytes = given != 0 ? given : FIRST_PIECE * MIMALLOC_SEGMENT_BYTES;
    if (bytes > part_bytes - given)
        bytes = part_bytes - given;
    bool ok = give_piece(given, bytes, false);
    atomic_store_explicit(&giving, false, memory_order_release);
    return ok;
}

size_t mimalloc_given_bytes(void)
{
    return atomic_load_explicit(&given_bytes, memory_order_acquire);
}
