/* hook_labels.c: makes the nodes that label, and keeps the table of threads.
 *
 * Hook-safe: a signal handler that comes while its thread is being entered enters it once more,
 * which costs an entry of the table and is right all the same. */
#include "runtime/hook_labels.h"

#include <string.h>
#include <sys/prctl.h>

#include "proto/store_layout.h"
#include "runtime/hook_store.h"
#include "runtime/hook_syscall.h"
#include "runtime/hook_thread.h"

struct labels_wanted labels_wanted;

bool labels_have_roots;

enum { SHARDS = 16, CONTENDED_OFTEN = 64 };

static uint32_t process_epoch = 1; /* raised by each fork */
static __thread struct {
    uint32_t epoch; /* other than the process': not entered */
    uint32_t node;
    uint32_t contended; /* times */
} own;

static struct store_thread *take_entry(uint32_t *index)
{
    *index = shared_add_u32(&store.header->thread_count, 1);
    if (LIKELY(*index < store.geometry.thread_capacity))
        return &store.threads[*index];
    shared_store_u32(&store.header->thread_count, store.geometry.thread_capacity,
                     memory_order_relaxed); /* far from its end */
    store_loss(STORE_LOSS_THREAD_TABLE_FULL, 0);
    return NULL;
}

static uint32_t enter_thread(void)
{
    uint32_t index;
    struct store_thread *thread = take_entry(&index);
    if (thread == NULL)
        return 0;
    char name[16] = ""; /* prctl(2): TASK_COMM_LEN */
    raw_syscall2(SYS_prctl, PR_GET_NAME, (long)name);
    memcpy(thread->name, name, sizeof(name));
    /* Release: a reader that sees the id sees the name. */
    shared_store_u32(&thread->tid, (uint32_t)raw_syscall0(SYS_gettid), memory_order_release);
    uint32_t node = store_node(0, STORE_FRAME_THREAD + index);
    if (node == 0)
        store_loss(STORE_LOSS_THREAD_TABLE_FULL, 0);
    return node;
}

static void set_own_root(uint32_t node)
{
    own.node = node;
    __asm__ volatile("" ::: "memory"); /* a signal handler sees the node when it sees the epoch */
    own.epoch = process_epoch;
}

uint32_t labels_own_root(void)
{
    if (UNLIKELY(own.epoch != process_epoch)) {
        own.contended = 0;
        set_own_root(labels_wanted.threads ? enter_thread() : 0);
    }
    return own.node;
}

void labels_contended(void)
{
    if (labels_wanted.threads || ++own.contended != CONTENDED_OFTEN)
        return;
    set_own_root(store_node(0, STORE_FRAME_SHARD + thread_number() % SHARDS));
    labels_have_roots = true;
}

uint32_t labels_size_stack(uint32_t stack, uint64_t size)
{
    if (UNLIKELY(stack == STORE_STACK_OTHER))
        return stack;
    const struct store_stack *frames = &store.stacks[stack];
    uint32_t node = store_node(shared_load_u32((uint32_t *)&frames->node, memory_order_relaxed),
                               STORE_FRAME_SIZE + store_size_class(size));
    uint32_t sized = node == 0 ? 0 : store_stack(node, frames->depth);
    if (LIKELY(sized != 0))
        return sized;
    store_loss(STORE_LOSS_STACK_TABLE_FULL, 0);
    return stack;
}

void labels_name_thread(uint32_t tid, const char *name)
{
    uint32_t count = shared_load_u32(&store.header->thread_count, memory_order_relaxed);
    if (count > store.geometry.thread_capacity)
        count = store.geometry.thread_capacity;
    /* From the end: ids come back, and the last thread to have it is the one that lives. */
    for (uint32_t index = count; index-- > 0;) {
        struct store_thread *thread = &store.threads[index];
        if (shared_load_u32(&thread->tid, memory_order_acquire) != tid)
            continue;
        char text[sizeof(thread->name)] = "";
        for (size_t i = 0; i < sizeof(text) && name[i] != '\0'; i++)
            text[i] = name[i];
        memcpy(thread->name, text, sizeof(text));
        shared_store_u32(&thread->is_named, 1, memory_order_release);
        return;
    }
}

void labels_restart(void)
{
    process_epoch++;
}
