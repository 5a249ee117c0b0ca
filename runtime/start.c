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
#include "runtime/handshake.h"
#include "runtime/hook_counts.h"
#include "runtime/hook_modules.h"
#include "runtime/hook_process.h"
#include "runtime/hook_range.h"
#include "runtime/hook_sampler.h"
#include "runtime/hook_stack.h"
#include "runtime/hook_store.h"
#include "runtime/libc_begin.h"
#include "runtime/next.h"
#include "runtime/operator_new.h"
#include "runtime/own_files.h"

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

/* Without --follow nothing of ours is handed to the target's children: the variables go from the
 * very array that becomes environ. */
static void forget_environment(char **envp, const char *own_path)
{
    char **kept = envp;
    for (char **entry = envp; *entry != NULL; entry++) {
        if (strncmp(*entry, "HEAPPROF_", strlen("HEAPPROF_")) == 0)
            continue;
        if (strncmp(*entry, "LD_PRELOAD=", strlen("LD_PRELOAD=")) == 0 &&
            !drop_from_list(*entry + strlen("LD_PRELOAD="), own_path))
            continue;
        *kept++ = *entry;
    }
    *kept = NULL;
}

/* --- the store ------------------------------------------------------------------------------- */

/* Address space for the slots of forked children too, unless a limit makes that rude: then only
 * what an eighth of the limit holds, and our own slot at least. */
static uint32_t slots_to_map(const struct message_reply *reply)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return reply->slot_count;
    uint64_t fit = limit.rlim_cur / 8 / reply->slot_bytes;
    if (fit > reply->slot_count)
        fit = reply->slot_count;
    return fit > reply->slot ? (uint32_t)fit : reply->slot + 1;
}

static uint64_t monotonic_ns(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool map_store(int memfd, const struct message_reply *reply)
{
    if (!store_geometry_of(reply->slot_bytes, &store.geometry))
        return false;
    store.slot_count = slots_to_map(reply);
    uint64_t offset = store_slots_offset(reply->slot_count);
    uint64_t bytes = offset + store.slot_count * reply->slot_bytes;
    uint8_t *base = mmap(NULL, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, memfd, 0);
    if (base == MAP_FAILED)
        return false;
    uint8_t *slot = base + offset + reply->slot * reply->slot_bytes;
    madvise(base, bytes, MADV_DONTDUMP);
    if (mprotect(base, offset, PROT_READ | PROT_WRITE) != 0 ||
        mprotect(slot, reply->slot_bytes, PROT_READ | PROT_WRITE) != 0)
        goto fail;
    store.directory = (struct store_directory *)base;
    store.slots = base + offset;
    if (store.directory->magic != STORE_MAGIC || store.directory->version != STORE_VERSION ||
        store.directory->slot_bytes != reply->slot_bytes ||
        store.directory->slot_count != reply->slot_count)
        goto fail;
    store_attach(reply->slot, reply->rate, (uint32_t)getpid(), monotonic_ns());
    return true;
fail:
    munmap(base, bytes);
    return false;
}

/* --- start ----------------------------------------------------------------------------------- */

static void note_main_program(void)
{
    stack_on_object = modules_note;
    own_files_note_main(modules_note);
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
    stack_start();
    if (reply.rate == 1) {
        char path[4096];
        if (own_files_beside("libheapprof-mimalloc.so", path, sizeof(path)))
            range_use_mimalloc(path);
    }
    note_main_program();
    return pthread_atfork(NULL, NULL, sampler_restart_thread) == 0 &&
           process_start(reply.rate, reply.seed, no_follow);
}

__attribute__((constructor)) static void start(int argc, char **argv, char **envp)
{
    int kept_errno = errno;
    libc_begin(argc, argv, envp);
    next_start();
    range_reserve();
    operator_new_start();
    dlclose_start();
    if (!start_recording(envp)) {
        sampler_configure(0, 0, 0);
        atomic_store_explicit(&process.state, PROCESS_INERT, memory_order_release);
    }
    errno = kept_errno;
}
