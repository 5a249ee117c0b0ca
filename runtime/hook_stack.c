/* hook_stack.c: walks the calling thread's stack by cached unwind rules.
 *
 * Hook-safe: runs in the target's malloc on any thread, also in signal handlers; no lock, no
 * allocation, no descriptor, no system call but madvise (hook_stack_bounds.c) and what libunwind
 * needs. At most 1.5 KiB of the thread's stack, the first sight of a pc included.
 * A frame is (pc, rsp, rbp); its rule gives the caller's. What cannot be wrong is checked at every
 * step: the CFA grows, except where a signal interrupted another stack, and each word is inside
 * memory known to be readable. A frame that no rule can say makes libunwind do the walk anew, from
 * the registers at the entry.
 * A walk that remembers (hook_stack_memory.h) stops where nothing has changed since the last one.
 * Cost of a walk that does not, warm: 5 ns a frame; 15, 45 and 172 frames take 80, 215 and 820 ns
 * where unw_backtrace takes 128, 330 and 1,160 (tests/bench/stack_walk.c, EPYC, gcc 12 -O2). A new
 * pc costs about 1 us, a walk by libunwind 5 us a frame. Source: System V ABI for x86-64, 3.2
 * and 3.7; Linux arch/x86/kernel/signal_64.c (the frame). */
#include "runtime/hook_stack.h"

#include <dlfcn.h>
#include <ucontext.h>

#include "runtime/hook_eh_frame.h"
#include "runtime/hook_libunwind.h"
#include "runtime/hook_rule_cache.h"
#include "runtime/hook_stack_bounds.h"
#include "runtime/hook_stack_memory.h"
#include "runtime/hook_stack_own.h"

/* Steps beyond one a frame of the result: frames of our own, and rounds in a stack whose signal
 * frames have been damaged to form a ring. */
enum { EXTRA_STEPS_MAX = 256 };

void (*stack_on_object)(uintptr_t pc, const struct dl_find_object *object);

/* pc is what rules are looked up by and what is reported: the return address - 1, or for a frame
 * that was interrupted its pc. */
struct frame {
    uintptr_t pc;
    uintptr_t sp;
    uintptr_t rbp;
};

/* A return address of 0, less 1: the end of stacks that have no frame saying so. */
static const uintptr_t no_caller = UINTPTR_MAX;

/* For a pc that is not cached. An address outside every object is not remembered: what is loaded
 * there later would not be seen. */
static __attribute__((noinline)) frame_word find_rule(uintptr_t pc)
{
    struct dl_find_object found;
    struct eh_frame_object object;
    struct frame_rule rule = {.kind = FRAME_NONE};
    frame_word word;
    if (_dl_find_object((void *)pc, &found) != 0)
        return FRAME_NONE;
    if (stack_on_object != NULL)
        stack_on_object(pc, &found);
    if (eh_frame_object_init(&object, &found, pc))
        rule = eh_frame_rule(&object, pc);
    word = frame_rule_pack(rule);
    if (stack_own_holds(pc))
        word = frame_word_own(word);
    rule_cache_put(pc, word);
    return word;
}

struct stack {
    uint64_t *pcs;
    size_t capacity;
    size_t count;
    enum stack_end end;
    struct stack_memory *memory; /* of a walk that remembers, else NULL */
};

/* The hot loop: records frames from *frame outwards as long as each has a plain rule in the cache
 * and lies in the bounds, and leaves at the first other one, not recorded yet. There is no call in
 * it, so its state stays in registers. A walk that remembers keeps its steps too, and also leaves
 * at a frame that looks like one that is remembered. */
static inline __attribute__((always_inline)) void follow(struct frame *frame,
                                                         struct stack_bounds bounds,
                                                         struct stack *stack,
                                                         struct stack_memory *memory)
{
    uintptr_t after = frame->pc + 1; /* the return address itself: one subtraction less a round */
    uintptr_t sp = frame->sp;
    uintptr_t rbp = frame->rbp;
    uintptr_t end = bounds.low + bounds.words;
    uint64_t *next = stack->pcs + stack->count;
    uint64_t *limit = stack->pcs + stack->capacity;
    struct stack_step *step = NULL, *last_step = NULL;
    const struct stack_word *cursor = NULL;
    if (memory != NULL) {
        step = memory->steps + memory->step_count - 1;
        last_step = memory->steps + STACK_MEMORY_STEPS - 1;
        cursor = memory->cursor;
    }
    if (!stack_bounds_hold(bounds, sp))
        return;
    /* There are no fewer steps than pcs. */
    while (memory != NULL ? step != last_step : next != limit) {
        frame_word word = rule_cache_get(after - 1);
        uintptr_t slot = (uintptr_t)frame_word_cfa_offset(word) - 8;
        if (__builtin_expect((word & FRAME_WORD_PLAIN) == 0, 0))
            break;
        if ((word & FRAME_WORD_BASE_RBP) != 0)
            slot += rbp;
        else
            slot += sp;
        /* Further out, and below the end: sp is in the bounds, so all above it is, up to the end.
         */
        if (__builtin_expect(slot - sp >= end - sp, 0))
            break;
        if ((word & FRAME_WORD_SAVES_RBP) != 0) {
            uintptr_t place = slot + 8 + (uintptr_t)frame_word_rbp_offset(word);
            if (__builtin_expect(!stack_bounds_hold(bounds, place), 0))
                break;
            rbp = *(const uintptr_t *)place;
        }
        *next = after - 1;
        next += (word & FRAME_WORD_OWN) == 0;
        sp = slot + 8;
        after = *(const uintptr_t *)slot;
        if (memory != NULL) {
            step->rule = word;
            *++step = (struct stack_step){.address = slot, .value = after, .rbp = rbp};
            while (__builtin_expect(cursor->address < slot, 0))
                cursor--;
            if (cursor->address == slot && cursor->value == after)
                break;
        }
        if (__builtin_expect(sp >= end, 0))
            break;
    }
    *frame = (struct frame){.pc = after - 1, .sp = sp, .rbp = rbp};
    stack->count = (size_t)(next - stack->pcs);
    if (memory != NULL) {
        memory->step_count = (uint32_t)(step - memory->steps) + 1;
        memory->cursor = cursor;
    }
}

static __attribute__((noinline)) void follow_only(struct frame *frame, struct stack_bounds bounds,
                                                  struct stack *stack)
{
    follow(frame, bounds, stack, NULL);
}

static __attribute__((noinline)) void
follow_remembering(struct frame *frame, struct stack_bounds bounds, struct stack *stack)
{
    follow(frame, bounds, stack, stack->memory);
}

/* Reads a word into *value; false when it cannot be read. */
static bool load(struct stack_bounds *bounds, uintptr_t address, uintptr_t *value)
{
    if (!stack_bounds_hold(*bounds, address) && !stack_bounds_widen(bounds, address))
        return false;
    *value = *(const uintptr_t *)address;
    return true;
}

/* To the caller of any frame with a rule of kind FRAME_RSP, FRAME_RBP or FRAME_DEREF_RBP. False
 * when the caller would not be further out, or its frame cannot be read. */
static bool step_calculated(struct frame *frame, struct stack_bounds *bounds, frame_word word)
{
    enum frame_kind kind = frame_word_kind(word);
    enum frame_saved saved = frame_word_rbp(word);
    uintptr_t base = kind == FRAME_RSP ? frame->sp : frame->rbp;
    uintptr_t cfa = base + (uintptr_t)frame_word_cfa_offset(word);
    uintptr_t return_address;
    if (kind == FRAME_DEREF_RBP && !load(bounds, cfa, &cfa))
        return false;
    if (cfa - 8 < frame->sp || cfa < 8 || !load(bounds, cfa - 8, &return_address))
        return false;
    if (saved != SAVED_NOT) {
        base = saved == SAVED_AT_CFA ? cfa : frame->rbp;
        if (!load(bounds, base + (uintptr_t)frame_word_rbp_offset(word), &frame->rbp))
            return false;
    }
    frame->pc = return_address - ((word & FRAME_WORD_INTERRUPTS) == 0);
    frame->sp = cfa;
    return true;
}

/* From the trampoline that a signal handler returns to, to what the signal interrupted. */
static bool step_signal(struct frame *frame, struct stack_bounds *bounds)
{
    const ucontext_t *context = (const ucontext_t *)frame->sp;
    const greg_t *registers = context->uc_mcontext.gregs;
    if (!load(bounds, (uintptr_t)&registers[REG_RIP], &frame->pc) ||
        !load(bounds, (uintptr_t)&registers[REG_RBP], &frame->rbp) ||
        !load(bounds, (uintptr_t)&registers[REG_RSP], &frame->sp))
        return false;
    stack_bounds_init(bounds, frame->sp, false);
    return true;
}

/* The frame recorded last was not called, but made to be returned to: a signal trampoline, or where
 * a coroutine begins. So its pc is the first byte. */
static void correct_uncalled(struct stack *stack)
{
    if (stack->count != 0)
        stack->pcs[stack->count - 1]++;
}

/* A walk that remembers has come to this frame. */
static void arrive(struct stack *stack, const struct frame *frame)
{
    struct stack_memory *memory = stack->memory;
    if (memory->step_count == STACK_MEMORY_STEPS) {
        memory->broken = true;
        stack->memory = NULL;
        return;
    }
    memory->steps[memory->step_count++] =
        (struct stack_step){.address = frame->sp - 8, .value = frame->pc + 1, .rbp = frame->rbp};
}

/* Whether all from the frame arrived at on is remembered; then it is not a new step. */
static bool meets(struct stack *stack, struct stack_bounds bounds)
{
    struct stack_memory *memory = stack->memory;
    if (memory == NULL ||
        !stack_memory_meets(memory, &memory->steps[memory->step_count - 1], bounds))
        return false;
    memory->step_count--;
    stack->end = STACK_END_ROOT;
    return true;
}

/* What a walk that remembers has to know of the step out of the frame it has arrived at. */
static void note_step(struct stack_memory *memory, frame_word word)
{
    memory->steps[memory->step_count - 1].rule = word;
    if (frame_word_kind(word) == FRAME_SIGNAL || (word & FRAME_WORD_INTERRUPTS) != 0)
        memory->broken = true;
    if (frame_word_kind(word) == FRAME_SIGNAL) /* maybe to another stack: look from the start */
        memory->cursor = &memory->words[memory->count - 1];
}

/* Records one frame of any kind and goes to its caller. False at the end of the walk, *kind being
 * that of the last frame and stack->end set unless it is unknown. */
static bool step(struct frame *frame, struct stack_bounds *bounds, struct stack *stack,
                 enum frame_kind *kind)
{
    frame_word word = rule_cache_get(frame->pc);
    if (frame->pc == no_caller)
        stack->end = STACK_END_ROOT;
    if (frame->pc == no_caller || frame->pc == 0) /* 0: interrupted after a jump to NULL */
        return false;
    if (word == FRAME_EMPTY)
        word = find_rule(frame->pc);
    *kind = frame_word_kind(word);
    if (stack->memory != NULL)
        note_step(stack->memory, word);
    if ((word & FRAME_WORD_OWN) == 0) {
        if (stack->count == stack->capacity) {
            stack->end = STACK_END_DEPTH;
            *kind = FRAME_NONE;
            return false;
        }
        stack->pcs[stack->count++] = frame->pc;
    }
    if (*kind > FRAME_DEREF_RBP && (word & FRAME_WORD_INTERRUPTS) != 0)
        correct_uncalled(stack);
    if (*kind == FRAME_ROOT)
        stack->end = STACK_END_ROOT;
    if (*kind == FRAME_SIGNAL) {
        /* When all inside it is ours, the leaf is what the signal interrupted. */
        if (stack->count == 1)
            stack->count = 0;
        return step_signal(frame, bounds);
    }
    return *kind <= FRAME_DEREF_RBP && step_calculated(frame, bounds, word);
}

/* Fills the stack from frame outwards. False when libunwind is needed. */
static bool walk(struct frame frame, struct stack *stack)
{
    struct stack_bounds bounds;
    enum frame_kind kind = FRAME_EMPTY;
    size_t left = stack->capacity + EXTRA_STEPS_MAX;
    stack_bounds_init(&bounds, frame.sp, true);
    stack->end = STACK_END_UNKNOWN;
    do
        follow_only(&frame, bounds, stack);
    while (step(&frame, &bounds, stack, &kind) && --left != 0);
    return kind != FRAME_FALLBACK;
}

/* The same as far as the stack is not remembered. */
static bool walk_remembering(struct frame frame, struct stack *stack)
{
    struct stack_bounds bounds;
    enum frame_kind kind = FRAME_EMPTY;
    size_t left = stack->capacity + EXTRA_STEPS_MAX;
    stack_bounds_init(&bounds, frame.sp, true);
    stack->end = STACK_END_UNKNOWN;
    do {
        if (stack->memory != NULL)
            arrive(stack, &frame);
        if (meets(stack, bounds))
            return true;
        if (stack->memory != NULL)
            follow_remembering(&frame, bounds, stack);
        if (meets(stack, bounds))
            return true;
    } while (step(&frame, &bounds, stack, &kind) && --left != 0);
    return kind != FRAME_FALLBACK;
}

static struct frame entry_frame(const struct stack_registers *registers)
{
    return (struct frame){
        .pc = registers->rip - 1, .sp = (uintptr_t)(registers + 1), .rbp = registers->rbp};
}

/* stack_capture's body: registers are its caller's. */
size_t stack_capture_from(uint64_t *pcs, size_t capacity, enum stack_end *end,
                          const struct stack_registers *registers)
    __attribute__((visibility("hidden"), used));
size_t stack_capture_from(uint64_t *pcs, size_t capacity, enum stack_end *end,
                          const struct stack_registers *registers)
{
    struct stack stack = {.pcs = pcs, .capacity = capacity};
    if (!walk(entry_frame(registers), &stack))
        libunwind_walk(registers, pcs, capacity, &stack.count, &stack.end);
    *end = stack.end;
    return stack.count;
}

/* stack_capture_changed's body. */
size_t stack_changed_from(struct stack_memory *memory, enum stack_end *end, const void *unused,
                          const struct stack_registers *registers)
    __attribute__((visibility("hidden"), used));
size_t stack_changed_from(struct stack_memory *memory, enum stack_end *end, const void *unused,
                          const struct stack_registers *registers)
{
    struct stack stack = {.pcs = memory->pcs, .capacity = STACK_MAX_FRAMES, .memory = memory};
    (void)unused;
    stack_memory_begin(memory);
    if (!walk_remembering(entry_frame(registers), &stack)) {
        memory->broken = true;
        libunwind_walk(registers, stack.pcs, stack.capacity, &stack.count, &stack.end);
    }
    *end = stack.end;
    return stack.count;
}

/* Pushes struct stack_registers below its return address: in C, a callee-saved register may have
 * been reused before it is looked at. The body gets them as its fourth argument. */
#define CAPTURE_ENTRY(name, body)                                                                  \
    __asm__(".text\n"                                                                              \
            ".hidden " name "\n"                                                                   \
            ".globl " name "\n"                                                                    \
            ".type " name ", @function\n" name ":\n"                                               \
            "    .cfi_startproc\n"                                                                 \
            "    push %r15\n"                                                                      \
            "    .cfi_adjust_cfa_offset 8\n"                                                       \
            "    push %r14\n"                                                                      \
            "    .cfi_adjust_cfa_offset 8\n"                                                       \
            "    push %r13\n"                                                                      \
            "    .cfi_adjust_cfa_offset 8\n"                                                       \
            "    push %r12\n"                                                                      \
            "    .cfi_adjust_cfa_offset 8\n"                                                       \
            "    push %rbp\n"                                                                      \
            "    .cfi_adjust_cfa_offset 8\n"                                                       \
            "    push %rbx\n"                                                                      \
            "    .cfi_adjust_cfa_offset 8\n"                                                       \
            "    mov %rsp, %rcx\n"                                                                 \
            "    sub $8, %rsp\n"                                                                   \
            "    .cfi_def_cfa_offset 64\n"                                                         \
            "    call " body "\n"                                                                  \
            "    add $56, %rsp\n"                                                                  \
            "    .cfi_def_cfa_offset 8\n"                                                          \
            "    ret\n"                                                                            \
            "    .cfi_endproc\n"                                                                   \
            ".size " name ", . - " name "\n")

CAPTURE_ENTRY("stack_capture", "stack_capture_from");
CAPTURE_ENTRY("stack_capture_changed", "stack_changed_from");

void stack_forget(uintptr_t start, uintptr_t limit)
{
    rule_cache_forget(start, limit);
    stack_memory_forget();
}
