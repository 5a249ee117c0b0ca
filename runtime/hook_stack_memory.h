/* hook_stack_memory.h: the stack that a thread was seen with last, so that the next walk stops
 * where nothing has changed.
 *
 * A walk is a function of registers and of the words of the stack that it reads. So a memory is the
 * list of these words: addresses, contents, and at each return address the rbp that its frame was
 * entered with and the interned id (node) of the stack from the root to that frame. Where a new
 * walk comes to a frame that is remembered in the same place with the same registers, and every
 * word further out still holds what it held, all that the new walk would find is known: outer
 * frames are compared, not unwound, and keep their nodes. Words that no outer frame's place depends
 * on, such as a variable of the program that a callee has saved in rbp's name, are not on the list.
 * Nothing is believed because of whose memory it is: a memory left by a thread that has ended, or
 * taken from another one, matches a stack only where it is true of it. What does make it untrue at
 * once is a module that goes (its rules, its nodes): stack_memory_forget.
 *
 * There are a few dozen memories for all threads, none of them in thread-local storage but for
 * which it was; a thread takes one out of use while it works with it, so a signal handler in
 * between gets another. Hook-safe: lock-free, any thread, signal handlers too. */
#ifndef HEAPPROF_RUNTIME_HOOK_STACK_MEMORY_H
#define HEAPPROF_RUNTIME_HOOK_STACK_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/hook_frame_rule.h"
#include "runtime/hook_stack.h"
#include "runtime/hook_stack_bounds.h"

/* One remembered word of the stack. */
struct stack_word {
    uintptr_t address;
    uintptr_t value;
    uintptr_t rbp;  /* as the frame that value returns to was entered with */
    uint32_t node;  /* the stack from the root to that frame, 0 while there is nothing of it */
    uint16_t depth; /* frames in it */
    uint16_t flags;
};

enum {
    STACK_WORD_FRAME = 1,    /* a return address, not a saved rbp or CFA */
    STACK_WORD_NEEDS_RBP = 2 /* the words further out depend on its rbp */
};

/* One frame of a walk in progress: where it was returned to from, and how it is left. */
struct stack_step {
    uintptr_t address; /* of its return address */
    uintptr_t value;   /* the return address */
    uintptr_t rbp;
    frame_word rule; /* 0 for what is no frame: the end of the stack */
};

enum { STACK_MEMORY_WORDS = 768, STACK_MEMORY_STEPS = STACK_MAX_FRAMES };

struct stack_memory {
    /* What stays from walk to walk. words[0] is a sentinel beyond every address; from 1 on from the
     * outermost word to the innermost. */
    uint32_t generation;
    uint32_t count; /* of words, with the sentinel; 0: never used */
    uint32_t stack; /* id of the whole remembered stack, 0: unknown */
    uint32_t root;  /* the node that all its nodes are under, 0: the root of all */
    struct stack_word words[STACK_MEMORY_WORDS];

    /* Of one walk. */
    const struct stack_word *cursor; /* the innermost word that the walk has not passed */
    bool met;                        /* cursor is where the walk ended, all further out is true */
    bool broken;                     /* not to be remembered */
    uint32_t step_count;             /* that are new, innermost first; one more while walking */
    struct stack_step steps[STACK_MEMORY_STEPS];
    uint64_t pcs[STACK_MAX_FRAMES]; /* the new frames', as of stack_capture */
} __attribute__((aligned(4096)));   /* pages of its own */

/* A memory for the calling thread alone, the same as last time where possible, to be given back;
 * NULL when all are in use, or there are no pages for it. */
struct stack_memory *stack_memory_take(void);

void stack_memory_give(struct stack_memory *memory);

/* Forgets what it remembers; its nodes will be under another root. */
void stack_memory_drop(struct stack_memory *memory, uint32_t root);

/* Begins a walk: words of a time before the last stack_memory_forget are dropped. */
void stack_memory_begin(struct stack_memory *memory) __attribute__((visibility("hidden")));

/* The walk has come to this frame (its rule is not looked at). True when it and all that is further
 * out is remembered and still so: then the cursor is there. Otherwise it moves on. */
bool stack_memory_meets(struct stack_memory *memory, const struct stack_step *frame,
                        struct stack_bounds bounds) __attribute__((visibility("hidden")));

/* Whether what was met is the whole remembered stack, nothing being new; its id is known then. */
static inline bool stack_memory_is_whole(const struct stack_memory *memory)
{
    return memory->step_count == 0 && memory->cursor == &memory->words[memory->count - 1] &&
           memory->stack != 0;
}

/* Remembers the walk, which reached the outermost frame or met what was remembered: that, and the
 * new steps. recorded is how many of their frames stand in pcs; instead of the pcs, it holds their
 * nodes now. stack is the id of the whole, 0 when it is not to be remembered. */
void stack_memory_keep(struct stack_memory *memory, size_t recorded, uint32_t stack);

/* All that is remembered is untrue from now on: a module has gone. Any thread. */
void stack_memory_forget(void);

/* In a forked child, at its start: nobody else is in here, and nodes have other ids. */
void stack_memory_restart(void);

#endif
