/* heap_gate_start.c: has the gate of the private heap told of forks and of ends of threads.
 *
 * Constructor time only, but for watch_thread. Destructors of thread-specific data run in the order
 * in which their keys were made (glibc nptl/nptl_deallocate_tsd.c), so ours is made before the heap
 * is loaded; handlers of pthread_atfork that come before a fork run in the reverse order, so ours,
 * made first, closes the gate last. */
#include <pthread.h>

#include <linux/membarrier.h>

#include "runtime/hook_heap_gate.h"
#include "runtime/hook_syscall.h"

static pthread_key_t end_key;

/* Allocates for all keys but the first 32. */
static void watch_thread(struct heap_gate_place *place)
{
    pthread_setspecific(end_key, place);
}

bool heap_gate_start(void)
{
    if (heap_gate_watch_thread != NULL)
        return true;
    if (raw_syscall3(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0 ||
        pthread_key_create(&end_key, heap_gate_thread_end) != 0 ||
        pthread_atfork(heap_gate_close, heap_gate_open_parent, heap_gate_open_child) != 0)
        return false;
    heap_gate_watch_thread = watch_thread;
    return true;
}
