/* hook_caller_stack.c: from the calling thread's registers to the id of its stack.
 *
 * Hook-safe. Only what has changed since the thread's last event is walked and interned
 * (hook_stack_memory.h); a stack that has not changed keeps its id. Frames go into the memory, not
 * onto the target's stack, which may be small. A stack that ends early, or is cut at the depth
 * limit, is walked and interned whole: it has a frame at its root that says so.
 * Cost, of 20 frames and caller_stack's callers: 400 ns when nothing is remembered, 140 to 160 ns
 * when the four innermost have changed, 42 to 54 ns when none has; of 45 frames 700 to 900, 200 and
 * 90 ns (tests/bench/stack_walk.c, EPYC, gcc 12 -O2). */
#include "runtime/hook_caller_stack.h"

#include "runtime/hook_labels.h"
#include "runtime/hook_libunwind.h"
#include "runtime/hook_pages.h"
#include "runtime/hook_shared.h"
#include "runtime/hook_stack.h"
#include "runtime/hook_stack_memory.h"
#include "runtime/hook_store.h"

/* The stack pcs[0..depth), below the node parent, whose walk ended so. */
static uint32_t intern_whole(uint32_t parent, const uint64_t *pcs, size_t depth, enum stack_end end)
{
    enum store_frame root = STORE_FRAME_NONE;
    if (end == STACK_END_DEPTH) {
        store_loss(STORE_LOSS_DEPTH_CUT, 0);
        root = STORE_FRAME_TRUNCATED;
    } else if (end == STACK_END_UNKNOWN) {
        store_loss(STORE_LOSS_UNWIND_INCOMPLETE, 0);
        root = STORE_FRAME_TRUNCATED;
    }
    return store_intern(parent, pcs, depth, depth == 0 ? STORE_FRAME_NO_STACK : root);
}

/* The stack that ends with the memory's `count` new frames, which are remembered with it. */
static uint32_t intern_changed(struct stack_memory *memory, size_t count)
{
    uint32_t node = memory->met ? memory->cursor->node : memory->root;
    size_t depth = memory->met ? memory->cursor->depth : 0;
    for (size_t i = count; i-- > 0;) {
        node = store_node(node, memory->pcs[i] & STORE_PC_MASK);
        if (UNLIKELY(node == 0))
            break;
        memory->pcs[i] = node;
    }
    uint32_t stack = node == 0 ? 0 : store_stack(node, (uint32_t)(depth + count));
    if (UNLIKELY(stack == 0)) {
        store_loss(STORE_LOSS_STACK_TABLE_FULL, 0);
        return STORE_STACK_OTHER;
    }
    if (LIKELY(!memory->broken))
        stack_memory_keep(memory, count, stack);
    return stack;
}

static uint32_t capture_and_intern(struct stack_memory *memory)
{
    enum stack_end end;
    size_t count = stack_capture_changed(memory, &end);
    if (LIKELY(memory->met) && stack_memory_is_whole(memory))
        return memory->stack;
    size_t depth = count + (memory->met ? memory->cursor->depth : 0);
    if (LIKELY(end == STACK_END_ROOT && depth != 0 && depth <= STACK_MAX_FRAMES))
        return intern_changed(memory, count);
    if (memory->met)
        count = stack_capture(memory->pcs, STACK_MAX_FRAMES, &end);
    return intern_whole(memory->root, memory->pcs, count, end);
}

/* With more threads in a walk at once than there are memories: into pages of the walk's own. */
static __attribute__((noinline)) uint32_t capture_into_pages(uint32_t root)
{
    size_t bytes = pages_up(STACK_MAX_FRAMES * sizeof(uint64_t));
    uintptr_t pages = pages_reserve(0, bytes);
    uint32_t stack = 0;
    if (pages != 0 && pages_commit(pages, bytes)) {
        enum stack_end end;
        uint64_t *pcs = (uint64_t *)pages;
        size_t count = stack_capture(pcs, STACK_MAX_FRAMES, &end);
        stack = intern_whole(root, pcs, count, end);
    }
    if (pages != 0)
        pages_release(pages, bytes);
    if (stack != 0)
        return stack;
    store_loss(STORE_LOSS_NO_STACK, 0);
    return store_intern(root, NULL, 0, STORE_FRAME_NO_STACK);
}

uint32_t caller_stack(void)
{
    uint32_t root = labels_root();
    struct stack_memory *memory = stack_memory_take();
    if (UNLIKELY(memory == NULL))
        return capture_into_pages(root);
    if (UNLIKELY(memory->root != root))
        stack_memory_drop(memory, root);
    uint32_t stack = capture_and_intern(memory);
    stack_memory_give(memory);
    return stack;
}

void caller_stack_restart(void)
{
    stack_memory_restart();
    libunwind_restart();
}
