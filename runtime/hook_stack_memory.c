/* hook_stack_memory.c: keeps, compares and hands out what walks remember.
 *
 * Hook-safe: lock-free; a memory in use belongs to whoever has marked it. Memories are made usable
 * one by one as threads come up, and their pages resident as they are written: about 12 KiB a
 * memory, 768 KiB for all. When all
 * have an owner, a thread that has none takes any that is not in use at that moment; its owner then
 * does the same. So thousands of threads, alive or ended, cost nothing, and as many as there are
 * memories have one to themselves. */
#include "runtime/hook_stack_memory.h"

#include "runtime/hook_pages.h"
#include "runtime/hook_shared.h"
#include "runtime/hook_thread.h"

enum { MEMORIES = 64 };

/* A thread is told by its control block, where %fs points, which is a multiple of 64; bit 0: the
 * memory is in use. 0: nobody's. A cache line each. */
struct holder {
    uint64_t thread;
    bool usable; /* the memory's pages; for who has it in use */
} __attribute__((aligned(64)));

#define IN_USE ((uintptr_t)1)

static struct holder holders[MEMORIES];
static _Atomic uintptr_t memories; /* address space for all, 0 before the first is taken */
static _Atomic bool all_owned;
static _Atomic uint32_t generation = 1;
static __thread uint8_t usual; /* index of the memory had last */

_Static_assert(MEMORIES <= UINT8_MAX, "usual");

/* --- the pages ------------------------------------------------------------------------------- */

static struct stack_memory *memory_at(unsigned index)
{
    return (struct stack_memory *)atomic_load_explicit(&memories, memory_order_relaxed) + index;
}

static bool reserve_memories(void)
{
    if (LIKELY(atomic_load_explicit(&memories, memory_order_relaxed) != 0))
        return true;
    size_t bytes = pages_up(MEMORIES * sizeof(struct stack_memory));
    uintptr_t fresh = pages_reserve(0, bytes);
    uintptr_t none = 0;
    if (fresh != 0 && !atomic_compare_exchange_strong_explicit(
                          &memories, &none, fresh, memory_order_relaxed, memory_order_relaxed))
        pages_release(fresh, bytes);
    return fresh != 0 || none != 0;
}

/* The memory that the caller has marked; NULL, the mark taken away, when there are no pages. */
static __attribute__((noinline)) struct stack_memory *make_usable(unsigned index)
{
    size_t bytes = pages_up(sizeof(struct stack_memory));
    if (!holders[index].usable && reserve_memories())
        holders[index].usable = pages_commit((uintptr_t)memory_at(index), bytes);
    if (holders[index].usable)
        return memory_at(index);
    shared_store_u64(&holders[index].thread, 0, memory_order_release);
    return NULL;
}

/* --- whose a memory is ----------------------------------------------------------------------- */

static bool mark(unsigned index, uintptr_t seen, uintptr_t thread)
{
    return thread_swap_u64(&holders[index].thread, seen, thread | IN_USE, thread_is_alone());
}

/* Our own or nobody's; another thread's when any will do. */
static struct stack_memory *search(unsigned start, uintptr_t thread, bool any)
{
    for (unsigned step = 0; step < MEMORIES; step++) {
        unsigned index = (start + step) % MEMORIES;
        uintptr_t seen = shared_load_u64(&holders[index].thread, memory_order_relaxed);
        bool suits = any ? (seen & IN_USE) == 0 : seen == thread || seen == 0;
        if (!suits || !mark(index, seen, thread))
            continue;
        usual = (uint8_t)index;
        return make_usable(index);
    }
    return NULL;
}

static __attribute__((noinline)) struct stack_memory *take_another(uintptr_t thread)
{
    struct stack_memory *memory = NULL;
    if (!atomic_load_explicit(&all_owned, memory_order_relaxed))
        memory = search(0, thread, false);
    if (memory != NULL)
        return memory;
    atomic_store_explicit(&all_owned, true, memory_order_relaxed);
    return search((unsigned)((uint64_t)thread * 0x9e3779b97f4a7c15ull >> 32), thread, true);
}

struct stack_memory *stack_memory_take(void)
{
    uintptr_t thread;
    __asm__("mov %%fs:0, %0" : "=r"(thread));
    unsigned index = usual;
    if (LIKELY(mark(index, thread, thread)))
        return memory_at(index);
    return take_another(thread);
}

void stack_memory_give(struct stack_memory *memory)
{
    struct holder *holder = &holders[memory - memory_at(0)];
    uintptr_t thread = shared_load_u64(&holder->thread, memory_order_relaxed);
    /* Release: pairs with the acquire in mark. */
    shared_store_u64(&holder->thread, thread & ~IN_USE, memory_order_release);
}

void stack_memory_drop(struct stack_memory *memory, uint32_t root)
{
    memory->generation = 0;
    memory->root = root;
}

/* --- comparing ------------------------------------------------------------------------------- */

void stack_memory_begin(struct stack_memory *memory)
{
    uint32_t now = atomic_load_explicit(&generation, memory_order_acquire);
    if (UNLIKELY(memory->generation != now)) {
        memory->generation = now;
        memory->words[0] = (struct stack_word){.address = UINTPTR_MAX};
        memory->count = 1;
    }
    memory->cursor = &memory->words[memory->count - 1];
    memory->met = false;
    memory->broken = false;
    memory->step_count = 0;
}

/* The innermost word further out than `word` that has changed, the sentinel when none has. */
static const struct stack_word *first_changed(const struct stack_word *word)
{
    do
        word--;
    while (word->address != UINTPTR_MAX && *(const uintptr_t *)word->address == word->value);
    return word;
}

bool stack_memory_meets(struct stack_memory *memory, const struct stack_step *frame,
                        struct stack_bounds bounds)
{
    const struct stack_word *word = memory->cursor;
    while (word->address < frame->address)
        word--;
    memory->cursor = word;
    if (word->address != frame->address || word->value != frame->value ||
        (word->flags & STACK_WORD_FRAME) == 0)
        return false;
    if ((word->flags & STACK_WORD_NEEDS_RBP) != 0 && word->rbp != frame->rbp)
        return false;
    /* Between here and the outermost word everything may be read then. */
    if (!stack_bounds_hold(bounds, frame->address) ||
        !stack_bounds_hold(bounds, memory->words[1].address))
        return false;
    const struct stack_word *changed = first_changed(word);
    if (changed == memory->words) {
        memory->met = true;
        return true;
    }
    memory->cursor = changed - 1;
    return false;
}

/* --- keeping --------------------------------------------------------------------------------- */

/* Adds a word; false when there is no room. */
static bool add(struct stack_memory *memory, struct stack_word word)
{
    if (UNLIKELY(memory->count == STACK_MEMORY_WORDS))
        return false;
    memory->words[memory->count++] = word;
    return true;
}

/* Adds a word of the frame of `step`: it lies between the two return addresses, so that what is
 * remembered is in order, and all of it within what may be read. */
static bool add_inside(struct stack_memory *memory, const struct stack_step *step,
                       const struct stack_word *caller, uintptr_t address, uintptr_t value)
{
    if (address <= step->address || address >= caller->address)
        return false;
    return add(memory, (struct stack_word){.address = address, .value = value});
}

/* Adds what the walk has read on its way from the frame of `step` to its caller, but for the return
 * address. False when that cannot be remembered. */
static bool add_way(struct stack_memory *memory, const struct stack_step *step,
                    const struct stack_word *caller)
{
    enum frame_saved saved = frame_word_rbp(step->rule);
    uintptr_t cfa = caller->address + 8;
    if (saved != SAVED_NOT && (caller->flags & STACK_WORD_NEEDS_RBP) != 0) {
        uintptr_t base = saved == SAVED_AT_CFA ? cfa : step->rbp;
        uintptr_t place = base + (uintptr_t)frame_word_rbp_offset(step->rule);
        if (!add_inside(memory, step, caller, place, caller->rbp))
            return false;
    }
    if (frame_word_kind(step->rule) != FRAME_DEREF_RBP)
        return true;
    return add_inside(memory, step, caller,
                      step->rbp + (uintptr_t)frame_word_cfa_offset(step->rule), cfa);
}

/* Whether the way from the frame outwards depends on the rbp that it was entered with. */
static bool needs_rbp(frame_word rule, const struct stack_word *caller)
{
    switch (frame_word_kind(rule)) {
    case FRAME_RBP:
    case FRAME_DEREF_RBP:
        return true;
    case FRAME_RSP:
        return frame_word_rbp(rule) != SAVED_AT_CFA && (caller->flags & STACK_WORD_NEEDS_RBP) != 0;
    default:
        return false; /* outermost */
    }
}

/* Adds the steps from the outermost on; false when there is no room, or they are odd. */
static bool add_steps(struct stack_memory *memory, size_t recorded)
{
    static const struct stack_word none;
    const struct stack_word *caller = memory->met ? memory->cursor : &none;
    for (size_t i = memory->step_count; i-- > 0;) {
        const struct stack_step *step = &memory->steps[i];
        bool counts = step->rule != FRAME_EMPTY && (step->rule & FRAME_WORD_OWN) == 0;
        struct stack_word word = {
            .address = step->address,
            .value = step->value,
            .rbp = step->rbp,
            .node = counts ? (uint32_t)memory->pcs[--recorded] : caller->node,
            .depth = (uint16_t)(caller->depth + counts),
            .flags = needs_rbp(step->rule, caller) ? STACK_WORD_FRAME | STACK_WORD_NEEDS_RBP
                                                   : STACK_WORD_FRAME,
        };
        if (caller != &none && !add_way(memory, step, caller))
            return false;
        if (!add(memory, word))
            return false;
        caller = &memory->words[memory->count - 1];
    }
    return true;
}

void stack_memory_keep(struct stack_memory *memory, size_t recorded, uint32_t stack)
{
    memory->count = memory->met ? (uint32_t)(memory->cursor - memory->words) + 1 : 1;
    memory->stack = stack;
    if (UNLIKELY(!add_steps(memory, recorded)))
        memory->count = 1;
}

/* --- the end of what is remembered ----------------------------------------------------------- */

void stack_memory_forget(void)
{
    /* Release: pairs with the acquire in stack_memory_begin; what is untrue now has been changed.
     */
    atomic_fetch_add_explicit(&generation, 1, memory_order_release);
}

void stack_memory_restart(void)
{
    stack_memory_forget();
    for (unsigned index = 0; index < MEMORIES; index++)
        shared_store_u64(&holders[index].thread, 0, memory_order_relaxed);
    atomic_store_explicit(&all_owned, false, memory_order_relaxed);
}
