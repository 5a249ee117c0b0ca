/* memory_end.c: at its end, a process tells how much memory it had: resident at most, and what the
 * private mimalloc holds.
 *
 * Not hook-safe, but a handler that calls exit may have interrupted malloc: nothing here takes a
 * lock. Other allocators tell what they hold only under theirs (mallinfo2, mallctl), so they are
 * not asked. The launcher looks at the resident memory now and then, but cannot after the end, so
 * that it misses what came last; this misses ends without destructors. A program that is executed
 * inherits the kernel's maximum from what its process ran before, so it says nothing unless it has
 * risen. */
#include "runtime/memory_end.h"

#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/hook_mimalloc.h"
#include "runtime/hook_process.h"
#include "runtime/hook_store.h"

static pid_t first_pid;
static long first_kib;

static long most_kib(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : 0;
}

void memory_end_start(void)
{
    first_pid = getpid();
    first_kib = most_kib();
}

static void tell_mimalloc(void)
{
    size_t unused, now, most;
    if (mimalloc.mi_process_info == NULL)
        return;
    mimalloc.mi_process_info(&unused, &unused, &unused, &unused, &unused, &now, &most, &unused);
    shared_store_u64(&store.header->mimalloc_bytes, now, memory_order_relaxed);
    shared_store_u64(&store.header->mimalloc_most_bytes, most, memory_order_relaxed);
}

__attribute__((destructor)) static void tell(void)
{
    if (first_pid == 0 || !process_has_begun())
        return;
    long kib = most_kib();
    if (kib > 0 && (kib > first_kib || getpid() != first_pid))
        shared_store_u64(&store.header->most_rss, (uint64_t)kib << 10, memory_order_relaxed);
    tell_mimalloc();
}
