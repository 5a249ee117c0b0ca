/* start.c: the library's constructor: from a preloaded object to a recording process.
 *
 * Not hook-safe: it runs once, on the main thread, before every other constructor (-z initfirst),
 * hence also before libc has set environ. It finds the next allocator, says hello to the launcher,
 * maps the store it is handed and closes every descriptor again. Whatever goes wrong leaves the
 * library inert: all requests are passed on, and the launcher says why there is no profile. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "proto/messages.h"
#include "proto/store_layout.h"
#include "runtime/dlclose.h"
#include "runtime/entry_start.h"
#include "runtime/handshake.h"
#include "runtime/hook_clock.h"
#include "runtime/hook_counts.h"
#include "runtime/hook_labels.h"
#include "runtime/hook_modules.h"
#include "runtime/hook_next_mimalloc.h"
#include "runtime/hook_process.h"
#include "runtime/hook_range.h"
#include "runtime/hook_sampler.h"
#include "runtime/hook_stack.h"
#include "runtime/hook_store.h"
#include "runtime/libc_begin.h"
#include "runtime/memory_end.h"
#include "runtime/next.h"
#include "runtime/operator_new.h"
#include "runtime/own_files.h"
#include "runtime/sampler_end.h"
#include "runtime/thread_name.h"

/* --- environment ----------------------------------------------------------------------------- */

static const char *find_variable(char **envp, const char *name)
{
    size_t length = strlen(name);
    for (char **entry = envp; *entry != NULL; entry++)
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
            return *entry + length + 1;
    return NULL;
}

/* Takes our entry out of a list such as "/run/heapprof-x/libheapprof.so:/usr/lib/other.so"; false
 * when nothing is left. */
static bool drop_from_list(char *list, const char *entry)
{
    size_t length = strlen(entry);
    for (char *at = list; (at = strstr(at, entry)) != NULL; at++) {
        bool begins = at == list || at[-1] == ':' || at[-1] == ' ';
        char after = at[length];
        if (!begins || (after != '\0' && after != ':' && after != ' '))
            continue;
        size_t skip = length + (after != '\0');
        memmove(at, at + skip, strlen(at + skip) + 1);
        break;
    }
    return *list != '\0';
}

/* LD_PRELOAD as the user had it; false when that is empty. */
static bool restore_preload(char *list, const char *own_path, const char *allocator)
{
    bool left = drop_from_list(list, own_path);
    return left && allocator != NULL ? drop_from_list(list, allocator) : left;
}

/* With --no-follow nothing of ours is handed to the target's children: the variables go from the
 * very array that becomes environ. Nor is the allocator that the launcher has put behind us. */
static void forget_environment(char **envp, const char *own_path)
{
    const char *allocator = find_variable(envp, HEAPPROF_ENV_ALLOCATOR);
    char **kept = envp;
    for (char **entry = envp; *entry != NULL; entry++) {
        if (strncmp(*entry, "HEAPPROF_", strlen("HEAPPROF_")) == 0)
            continue;
        if (strncmp(*entry, "LD_PRELOAD=", strlen("LD_PRELOAD=")) == 0 &&
            !restore_preload(*entry + strlen("LD_PRELOAD="), own_path, allocator))
            continue;
        *kept++ = *entry;
    }
    *kept = NULL;
}

/* --- the store ------------------------------------------------------------------------------- */

/* How much address space the store may take: all that it wants, unless a limit makes that rude. */
static uint64_t space_for_store(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur / 8;
}

/* bytes of the store from offset on, writable; NULL when they cannot be had. */
static uint8_t *map_part(int memfd, uint64_t offset, uint64_t bytes, int protection)
{
    void *part = mmap(NULL, bytes, protection, MAP_SHARED | MAP_NORESERVE, memfd, (off_t)offset);
    if (part == MAP_FAILED)
        return NULL;
    madvise(part, bytes, MADV_DONTDUMP);
    return part;
}

/* The directory and all slots in one piece, so that forked children can claim theirs. */
static bool map_all(int memfd, uint64_t offset, const struct message_reply *reply)
{
    uint64_t bytes = offset + reply->slot_count * reply->slot_bytes;
    uint8_t *base = map_part(memfd, 0, bytes, PROT_NONE);
    if (base == NULL)
        return false;
    store.directory = (struct store_directory *)base;
    store.slots = base + offset;
    store.slot_count = reply->slot_count;
    return mprotect(base, offset, PROT_READ | PROT_WRITE) == 0 &&
           mprotect(store.slots + reply->slot * reply->slot_bytes, reply->slot_bytes,
                    PROT_READ | PROT_WRITE) == 0;
}

/* The directory and our own slot, where address space is scarce: forked children get none. */
static bool map_own(int memfd, uint64_t offset, const struct message_reply *reply)
{
    uint64_t slot = reply->slot * reply->slot_bytes;
    uint8_t *directory = map_part(memfd, 0, offset, PROT_READ | PROT_WRITE);
    uint8_t *own = map_part(memfd, offset + slot, reply->slot_bytes, PROT_READ | PROT_WRITE);
    if (directory == NULL || own == NULL) {
        if (directory != NULL)
            munmap(directory, offset);
        if (own != NULL)
            munmap(own, reply->slot_bytes);
        return false;
    }
    store.directory = (struct store_directory *)directory;
    store.slots = (uint8_t *)((uintptr_t)own - slot);
    store.slot_count = 0;
    return true;
}

static bool map_store(int memfd, const struct message_reply *reply)
{
    if (!store_geometry_of(reply->slot_bytes, &store.geometry))
        return false;
    uint64_t offset = store_slots_offset(reply->slot_count);
    uint64_t space = space_for_store();
    if (offset + reply->slot_bytes > space)
        return false;
    bool all = offset + reply->slot_count * reply->slot_bytes <= space;
    if (!(all ? map_all(memfd, offset, reply) : map_own(memfd, offset, reply)))
        return false;
    if (store.directory->magic != STORE_MAGIC || store.directory->version != STORE_VERSION ||
        store.directory->slot_bytes != reply->slot_bytes ||
        store.directory->slot_count != reply->slot_count)
        return false;
    clock_start(reply->tsc_hz != 0);
    store_attach(reply->slot, reply->rate, (uint32_t)getpid(), clock_now_ns(CLOCK_MONOTONIC));
    return true;
}

/* --- start ----------------------------------------------------------------------------------- */

static void note_main_program(void)
{
    stack_on_object = modules_note;
    own_files_note_main(modules_note);
}

/* The temporary threshold in this process' ticks. */
static uint64_t temporary_ticks(const struct message_reply *reply)
{
    if (clock_ticks.kind == STORE_TICK_NS)
        return reply->temporary_ns;
    return (uint64_t)((unsigned __int128)reply->temporary_ns * reply->tsc_hz / 1000000000u);
}

/* Which allocator holds what. When mimalloc cannot be had, all is as without it. */
static void start_allocators(const struct message_reply *reply, const char *socket_path)
{
    bool mimalloc_wanted = (reply->flags & MESSAGE_FLAG_MIMALLOC) != 0;
    uint32_t trouble = MESSAGE_TROUBLE_MIMALLOC_LOAD;
    char path[4096];
    bool found = own_files_beside("libheapprof-mimalloc.so", path, sizeof(path));
    bool started = false;
    if (reply->rate == 1) {
        uintptr_t base;
        size_t bytes;
        started = found && range_use_mimalloc(path, mimalloc_wanted);
        if (!range_mimalloc_part(&base, &bytes))
            trouble = MESSAGE_TROUBLE_MIMALLOC_SPACE;
    }
    if (reply->rate != 1 && mimalloc_wanted)
        started = found && next_mimalloc_start(path, &trouble);
    if (mimalloc_wanted && !started)
        handshake_tell(socket_path, trouble);
    if (!started || reply->rate == 1)
        entry_start();
}

static bool start_recording(char **envp)
{
    const char *socket_path = find_variable(envp, HEAPPROF_ENV_SOCKET);
    if (socket_path == NULL)
        return false;
    struct message_reply reply;
    int memfd = -1;
    if (!handshake(socket_path, &reply, &memfd))
        return false;
    bool no_follow = (reply.flags & MESSAGE_FLAG_NO_FOLLOW) != 0;
    bool mapped = reply.status == MESSAGE_OK && map_store(memfd, &reply);
    close(memfd);
    if (no_follow)
        forget_environment(envp, own_files_library());
    if (!mapped || !counts_start())
        return false;
    counts_set_temporary(temporary_ticks(&reply));
    labels_wanted.threads = labels_have_roots = (reply.flags & MESSAGE_FLAG_THREADS) != 0;
    labels_wanted.sizes = (reply.flags & MESSAGE_FLAG_SIZES) != 0;
    stack_start();
    start_allocators(&reply, socket_path);
    note_main_program();
    sampler_end_start();
    memory_end_start();
    return pthread_atfork(NULL, NULL, sampler_restart_thread) == 0 &&
           process_start(reply.rate, reply.seed, no_follow);
}

/* Nothing is recorded. The slot, if we have set it up, is as it was: then the launcher says that
 * there is no profile, instead of writing an empty one. */
static void stay_inert(void)
{
    if (store.header != NULL)
        shared_store_u64(&store.header->magic, 0, memory_order_release);
    sampler_configure(0, 0, 0);
    atomic_store_explicit(&process.state, PROCESS_INERT, memory_order_release);
}

__attribute__((constructor)) static void start(int argc, char **argv, char **envp)
{
    int kept_errno = errno;
    libc_begin(argc, argv, envp);
    next_start();
    range_reserve();
    operator_new_start();
    dlclose_start();
    thread_name_start();
    if (!start_recording(envp))
        stay_inert();
    errno = kept_errno;
}
