/* thread_name.c: a thread that the program gives a name is labelled with it from then on.
 *
 * Not hook-safe, as pthread_setname_np is not. Names that are given by prctl(2) alone the launcher
 * sees when it looks at /proc. */
#include "runtime/thread_name.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "runtime/hook_event.h"
#include "runtime/hook_labels.h"
#include "runtime/hook_process.h"
#include "runtime/hook_syscall.h"

/* Where glibc keeps a thread's id in its descriptor, which pthread_t points to. Source: glibc
 * nptl/descr.h, struct pthread, tid; the same on x86-64 since 2.4. */
enum { TID_OFFSET = 720 };

static int (*next_setname)(pthread_t, const char *);

void thread_name_start(void)
{
    next_setname = (int (*)(pthread_t, const char *))dlsym(RTLD_NEXT, "pthread_setname_np");
}

static uint32_t tid_in(pthread_t thread)
{
    uint32_t tid;
    memcpy(&tid, (const char *)thread + TID_OFFSET, sizeof(tid));
    return tid;
}

/* 0 for another thread where the descriptor is not as we know it. */
static uint32_t tid_of(pthread_t thread)
{
    uint32_t own = (uint32_t)raw_syscall0(SYS_gettid);
    if (pthread_equal(thread, pthread_self()))
        return own;
    return tid_in(pthread_self()) == own ? tid_in(thread) : 0;
}

HOOK int pthread_setname_np(pthread_t thread, const char *name)
{
    if (next_setname == NULL)
        thread_name_start();
    int result = next_setname(thread, name);
    if (result == 0 && labels_wanted.threads && process_records()) {
        uint32_t tid = tid_of(thread);
        if (tid != 0)
            labels_name_thread(tid, name);
    }
    return result;
}
