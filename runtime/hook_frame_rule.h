/* hook_frame_rule.h: how to get from one frame to its caller, for one pc.
 *
 * The idea: of all that call frame information can say, almost every frame of compiled code needs
 * five facts, and they fit one word: what the canonical frame address (CFA) is counted from, its
 * offset, where the caller's rbp was saved, and two special cases (outermost frame, signal
 * trampoline). The return address is always at CFA - 8. All else is FRAME_FALLBACK. Does not
 * decode anything: hook_eh_frame.c makes rules, hook_stack.c follows them.
 * Source: System V ABI for x86-64, 3.7 and 4.2.3; DWARF 5, 6.4. */
#ifndef HEAPPROF_RUNTIME_HOOK_FRAME_RULE_H
#define HEAPPROF_RUNTIME_HOOK_FRAME_RULE_H

#include <stdbool.h>
#include <stdint.h>

enum frame_kind {
    FRAME_EMPTY,     /* never made; the value of an unused cache entry */
    FRAME_RSP,       /* CFA = rsp + cfa_offset */
    FRAME_RBP,       /* CFA = rbp + cfa_offset */
    FRAME_DEREF_RBP, /* CFA = the word at rbp + cfa_offset: a stack realigned by the compiler */
    FRAME_ROOT,      /* no caller: the return address is declared undefined (_start, clone3) */
    FRAME_SIGNAL,    /* rt_sigreturn trampoline: a struct ucontext lies at rsp */
    FRAME_FALLBACK,  /* described, but not in these terms */
    FRAME_NONE       /* no (usable) description */
};

enum frame_saved {
    SAVED_NOT,    /* the caller's rbp is still in rbp */
    SAVED_AT_CFA, /* at CFA + rbp_offset */
    SAVED_AT_RBP  /* at rbp + rbp_offset, rbp being this frame's */
};

struct frame_rule {
    enum frame_kind kind;
    enum frame_saved rbp;
    bool interrupts; /* the caller did not call but was interrupted: its pc is exact */
    int32_t cfa_offset;
    int32_t rbp_offset;
};

/* One word, never 0: bits 0-2 kind, 3-4 rbp, 5 interrupts, 6 own, 7 plain, 8-31 rbp_offset, 32-63
 * cfa_offset. */
typedef uint64_t frame_word;

#define FRAME_WORD_BASE_RBP                                                                        \
    ((frame_word)FRAME_RBP) /* in a plain word: FRAME_RBP, not FRAME_RSP                           \
                             */
#define FRAME_WORD_SAVES_RBP ((frame_word)SAVED_AT_CFA << 3) /* in a plain word */
#define FRAME_WORD_INTERRUPTS (UINT64_C(1) << 5)
/* Set by the walker, not by frame_rule_pack: the pc is the runtime's own and not reported. */
#define FRAME_WORD_OWN (UINT64_C(1) << 6)
/* FRAME_RSP or FRAME_RBP, rbp saved at the CFA if at all, does not interrupt: what most frames are,
 * told by one bit. */
#define FRAME_WORD_PLAIN (UINT64_C(1) << 7)

/* A rule whose rbp_offset has more than 24 bits becomes FRAME_FALLBACK. Pure. */
static inline frame_word frame_rule_pack(struct frame_rule rule)
{
    bool plain = (rule.kind == FRAME_RSP || rule.kind == FRAME_RBP) && rule.rbp != SAVED_AT_RBP &&
                 !rule.interrupts;
    if (rule.rbp_offset < -(1 << 23) || rule.rbp_offset >= 1 << 23)
        return FRAME_FALLBACK;
    return (frame_word)rule.kind | (frame_word)rule.rbp << 3 |
           (rule.interrupts ? FRAME_WORD_INTERRUPTS : 0) | (plain ? FRAME_WORD_PLAIN : 0) |
           ((frame_word)(uint32_t)rule.rbp_offset & 0xffffff) << 8 |
           (frame_word)(uint32_t)rule.cfa_offset << 32;
}

/* The same for a pc of the runtime's own. */
static inline frame_word frame_word_own(frame_word word)
{
    return word | FRAME_WORD_OWN;
}

static inline enum frame_kind frame_word_kind(frame_word word)
{
    return (enum frame_kind)(word & 7);
}

static inline enum frame_saved frame_word_rbp(frame_word word)
{
    return (enum frame_saved)(word >> 3 & 3);
}

static inline int64_t frame_word_cfa_offset(frame_word word)
{
    return (int64_t)word >> 32;
}

static inline int64_t frame_word_rbp_offset(frame_word word)
{
    return (int64_t)(word << 32) >> 40;
}

#endif
