/* hook_event.c: recording: from a sampled request to an object with a stack, and back.
 *
 * Hook-safe. Order matters in two places. On allocation the object is there before it is counted,
 * and its record is complete before the program can see it. On free the books are changed while the
 * object is still ours, so that another thread that gets the same memory next cannot be confused
 * with it. */
#include "runtime/hook_event.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/hook_caller_stack.h"
#include "runtime/hook_counts.h"
#include "runtime/hook_labels.h"
#include "runtime/hook_process.h"
#include "runtime/hook_sampler.h"
#include "runtime/hook_shared.h"
#include "runtime/hook_sizes.h"
#include "runtime/hook_stack.h"
#include "runtime/hook_store.h"
#include "runtime/hook_syscall.h"
#include "runtime/hook_weight.h"

/* --- objects --------------------------------------------------------------------------------- */

/* What we hold in the target, told now and then: at a thread's first recorded object and at every
 * 256th. */
static void tell_overhead(void)
{
    static __thread uint8_t objects;
    if (LIKELY(objects++ != 0))
        return;
    shared_store_u64(&store.header->runtime_bytes, range_overhead_bytes() + counts_overhead_bytes(),
                     memory_order_relaxed);
}

/* The caller's stack, or the other stacks when it cannot be counted. */
static uint32_t counted_stack(uint64_t size)
{
    uint32_t stack = labels_sized(caller_stack(), size);
    if (LIKELY(counts_make_room(stack)))
        return stack;
    store_loss(STORE_LOSS_STACK_TABLE_FULL, 0);
    return STORE_STACK_OTHER;
}

/* Counts the object as allocated at the caller's stack. */
static void record(struct range_record *object)
{
    struct counts_change change = {
        .stack = counted_stack(object->size),
        .size = object->size,
        .weight_q16 = weight_objects_q16(object->size, sampler_rate_of_hit()),
        .born = moment_now(),
    };
    object->stack = change.stack;
    object->weight_q16 = change.weight_q16;
    object->born = change.born;
    counts_change(&change);
    sizes_count(change.size, change.weight_q16);
    tell_overhead();
}

/* Counts the object as freed, if it was ever counted. */
static void unrecord(const struct range_record *object)
{
    struct counts_change change = {
        .stack = object->stack,
        .freed = true,
        .size = object->size,
        .weight_q16 = object->weight_q16,
        .born = object->born,
    };
    if (change.weight_q16 == 0 || !process_records())
        return;
    change.now = moment_now();
    counts_change(&change);
}

void *event_allocate(size_t size, size_t alignment, bool zero)
{
    if (UNLIKELY(!process_records()))
        return NULL;
    struct range_record *object;
    void *p = range_alloc(size, alignment, zero, &object);
    if (LIKELY(p != NULL))
        record(object);
    return p;
}

void event_missed(size_t size)
{
    if (process_records())
        store_loss(STORE_LOSS_RANGE_FULL,
                   weight_bytes(size, weight_objects_q16(size, sampler_rate_of_hit())));
}

/* --- frees that cannot be ------------------------------------------------------------------- */

static char *put_text(char *at, const char *text)
{
    size_t length = strlen(text);
    memcpy(at, text, length);
    return at + length;
}

/* One line, as glibc's malloc prints it and with the pointer; then SIGABRT. */
static void die_of(const char *what, const void *p)
{
    char line[80];
    char *end = put_text(line, what);
    end = put_text(end, ": 0x");
    for (int shift = 44; shift >= 0; shift -= 4)
        *end++ = "0123456789abcdef"[(uintptr_t)p >> shift & 15];
    *end++ = '\n';
    raw_syscall3(SYS_write, 2, (long)line, end - line);
    abort();
}

static struct range_record *live_object(const void *p)
{
    struct range_record *object = range_record_of(p);
    if (UNLIKELY(object == NULL))
        die_of("free(): invalid pointer", p);
    return object;
}

void event_free(void *p)
{
    struct range_record *object = live_object(p);
    struct range_record before = *object;
    if (UNLIKELY(!range_begin_free(object)))
        die_of("free(): double free detected", p);
    unrecord(&before);
    range_free(p, object);
}

/* --- realloc --------------------------------------------------------------------------------- */

/* Leaves the range: the next allocator takes over the object, which is not recorded any more. */
static void *leave_range(void *p, struct range_record *object, size_t size)
{
    void *moved = next.malloc(size);
    if (moved == NULL)
        return NULL;
    memcpy(moved, p, object->size < size ? object->size : size);
    event_free(p);
    return moved;
}

void *event_reallocate(void *p, size_t size, bool sampled)
{
    struct range_record *object = live_object(p);
    struct range_record before = *object;
    void *moved = range_realloc(p, &object, size);
    if (UNLIKELY(moved == NULL)) {
        moved = leave_range(p, object, size);
        if (moved != NULL && sampled)
            event_missed(size);
        return moved;
    }
    unrecord(&before);
    object->weight_q16 = 0;
    if (sampled && process_records())
        record(object);
    return moved;
}

void *event_adopt(void *p, size_t size)
{
    size_t usable = next.known_size(p);
    void *object = usable != 0 ? event_allocate(size, 16, false) : NULL;
    if (object == NULL)
        return NULL;
    memcpy(object, p, usable < size ? usable : size);
    next.free(p);
    return object;
}

size_t event_usable_size(void *p)
{
    struct range_record *object = range_record_of(p);
    return object == NULL ? 0 : range_usable_size(p, object);
}

void event_restart(void)
{
    caller_stack_restart();
    labels_restart();
}
