/* hook_cfa_program.h: runs the call frame instructions of one function up to one pc.
 *
 * Keeps only what a frame_rule can say: the CFA, and where rbp, rsp and the return address are.
 * Hook-safe: reads the instructions' bytes, uses about 400 bytes of stack, no recursion. */
#ifndef HEAPPROF_RUNTIME_HOOK_CFA_PROGRAM_H
#define HEAPPROF_RUNTIME_HOOK_CFA_PROGRAM_H

#include "runtime/hook_eh_reader.h"
#include "runtime/hook_frame_rule.h"

/* What a CIE says for all its functions. */
struct cfa_cie {
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_register;
    uint8_t fde_encoding; /* how addresses are written, DW_EH_PE_* */
    bool has_lengths;     /* 'z': the FDE has augmentation data with its length */
    bool signal_frame;    /* 'S' */
    struct eh_reader instructions;
};

/* The rule in force at pc, for a function that begins at start: the instructions of the CIE, then
 * those of the FDE, up to the first that is for a later address. FRAME_NONE when they are
 * malformed. Never gives FRAME_SIGNAL: whoever can read the code at pc decides that. */
struct frame_rule cfa_program_rule(const struct cfa_cie *cie, struct eh_reader instructions,
                                   uintptr_t start, uintptr_t pc)
    __attribute__((visibility("hidden")));

#endif
