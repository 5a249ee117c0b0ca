/* rss_end.c: at its end, a process tells how much it had resident at most.
 *
 * Not hook-safe. The launcher looks now and then, but cannot after the end, so that it misses what
 * came last; this misses ends without destructors. A program that is executed inherits the kernel's
 * maximum from what its process ran before, so it says nothing unless it has risen. */
#include "runtime/rss_end.h"

#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/hook_process.h"
#include "runtime/hook_store.h"

static pid_t first_pid;
static long first_kib;

static long most_kib(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : 0;
}

void rss_end_start(void)
{
    first_pid = getpid();
    first_kib = most_kib();
}

__attribute__((destructor)) static void tell(void)
{
    if (first_pid == 0 || !process_has_begun())
        return;
    long kib = most_kib();
    if (kib > 0 && (kib > first_kib || getpid() != first_pid))
        shared_store_u64(&store.header->most_rss, (uint64_t)kib << 10, memory_order_relaxed);
}
