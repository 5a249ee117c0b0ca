/* hook_stack.h: where the calling thread is: its stack as call-site addresses.
 *
 * A table walker of our own, with a process-wide cache pc -> rule filled from .eh_frame_hdr found
 * by _dl_find_object; libunwind behind it for what a rule cannot express. Hook-safe: no lock, no
 * allocation, no descriptor, no dynamic TLS; no system call but madvise (to learn whether a stack
 * that is not the thread's own can be read) and what the libunwind fallback needs. */
#ifndef HEAPPROF_RUNTIME_HOOK_STACK_H
#define HEAPPROF_RUNTIME_HOOK_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STACK_MAX_FRAMES 512u

enum stack_end {
    STACK_END_ROOT,   /* reached the outermost frame */
    STACK_END_DEPTH,  /* more frames than there was room for */
    STACK_END_UNKNOWN /* a frame without unwind information, or memory that cannot be read */
};

struct dl_find_object;

/* Called by a walk, at most once for each pc that is not cached, with the object that holds pc.
 * The module table keeps itself current with it. Hook-safe. Set before the first walk. */
extern void (*stack_on_object)(uintptr_t pc, const struct dl_find_object *object)
    __attribute__((visibility("hidden")));

/* Learns the main thread's stack, this library's own text (frames there are left out of every
 * capture) and loads libunwind, when it is there, through dlopen(RTLD_LOCAL | RTLD_NOW); no
 * descriptor stays open. Only from the constructor, on the main thread; idempotent. True when
 * libunwind is there as fallback. */
bool stack_start(void);

/* The caller's stack, leaf first, into pcs[0..capacity): for a call site the return address - 1;
 * the pc itself for a frame interrupted by a signal, for a signal trampoline and for the start of a
 * coroutine, which nobody called. Returns the number of frames; *end tells why it ended. Frames of
 * this library are left out, at the leaf and further out; so is the trampoline that a signal
 * handler of this library returns to, when it would be the leaf. Any thread, any stack; at most
 * 1.5 KiB of it. errno kept. */
size_t stack_capture(uint64_t *pcs, size_t capacity, enum stack_end *end);

struct stack_memory; /* hook_stack_memory.h */

/* The same for a stack of which most may be remembered: only the frames up to what is unchanged go
 * into memory->pcs, for STACK_MAX_FRAMES at most, and what is unchanged is told there too:
 * memory->met. *end is STACK_END_ROOT then. Returns the number of frames in pcs. All frames
 * together may be more than STACK_MAX_FRAMES. */
size_t stack_capture_changed(struct stack_memory *memory, enum stack_end *end);

/* Forgets the rules cached for pc in [start, limit), and all remembered stacks: the module there is
 * gone. */
void stack_forget(uintptr_t start, uintptr_t limit);

#endif
