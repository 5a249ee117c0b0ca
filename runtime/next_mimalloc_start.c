/* next_mimalloc_start.c: from a file to the allocator of what is not sampled.
 *
 * Constructor time only. */
#include "proto/messages.h"
#include "runtime/entry_start.h"
#include "runtime/hook_heap_gate.h"
#include "runtime/hook_mimalloc.h"
#include "runtime/hook_next_mimalloc.h"
#include "runtime/hook_pages.h"
#include "runtime/hook_range.h"

/* Where huge pages come unasked, a small program's first segments would be resident as a whole: of
 * these mimalloc itself makes a few pages usable at a time. */
#define WITHOUT_HUGE_PAGES (2 * MIMALLOC_SEGMENT_BYTES)

bool next_mimalloc_start(const char *path, uint32_t *reason)
{
    uintptr_t base;
    size_t bytes;
    struct mimalloc_calls calls;
    struct mimalloc_wishes wishes;
    *reason = MESSAGE_TROUBLE_MIMALLOC_SPACE;
    if (!range_mimalloc_part(&base, &bytes))
        return false;
    *reason = MESSAGE_TROUBLE_MIMALLOC_LOAD;
    if (!heap_gate_start() || !mimalloc_load(path, true, &calls, &wishes))
        return false;
    *reason = MESSAGE_TROUBLE_MIMALLOC_SPACE;
    if (!mimalloc_start(&calls, base, bytes, &wishes))
        return false;
    if (!wishes.huge_pages)
        raw_syscall3(SYS_madvise, (long)base, WITHOUT_HUGE_PAGES, MADV_NOHUGEPAGE);
    heap_gate_open(mimalloc.mi_thread_done);
    range_leave_mimalloc_part();
    next_mimalloc_install(base, bytes);
    if (!entry_start_with_mimalloc())
        entry_start();
    return true;
}
