/* hook_entry.c: malloc and free as the target enters them, for what is not sampled.
 *
 * Hook-safe. Assembly, since the request has to go on to the next allocator by the branch that
 * decides about it. A test that jumps away to the sampled half now and then, and an indirect jump
 * on to the next allocator behind it, are two branches to predict; measured on a ring of small
 * blocks (Zen 4, both ways in one process), malloc and free written so cost 6.8 % over bare, one
 * conditional jump straight on 3.9 %, two bare indirect jumps 3.6 %.
 *
 * As linked, the conditional jumps lead to an indirect jump through `next`, which is right at any
 * time; entry_start.c aims them at the next allocator itself once it is known. The functions have a
 * page of their own for that. 5 instructions for malloc and 2 for free, 4 where the heap lies below
 * the range; under valgrind, which keeps the page as it was, one more each.
 *
 * Each has HOOK_ENTRY_FUNCTION_BYTES, more than it needs: where mimalloc serves what is not
 * sampled, entry_mimalloc.c puts another malloc and free there, with mimalloc's short ways in them.
 *
 * malloc counts the request as sampler_passes does (hook_sampler.h), free asks as range_holds does
 * (hook_range.h). Source of the encoding: Intel SDM, vol. 2, Jcc rel32 (0F 8F jg, 0F 83 jae, 0F 82
 * jb); sampler_until by the initial-exec model of "ELF Handling For Thread-Local Storage", 4.3.6.
 */
#include "runtime/hook_entry.h"

#include <stddef.h>

#include "runtime/hook_next.h"

_Static_assert(HOOK_ENTRY_FUNCTION_BYTES == 256, "the assembly says .balign 256");
_Static_assert(offsetof(struct next, malloc) == 0, "the assembly says next+0");
_Static_assert(offsetof(struct next, free) == 24, "the assembly says next+24");

/* Where the compiler marks what may be reached by an indirect branch, the entries say so too. */
#if defined(__CET__) && (__CET__ & 1) != 0
#define ENTRY "    op endbr64\n"
#else
#define ENTRY ""
#endif

/* op: one instruction, its place noted in entry_ops, so that entry_start.c sees when somebody has
 * put a breakpoint there. next_if: the jump `0F opcode` to label, noted in entry_jumps with its
 * function's offset. */
__asm__("    .macro op instruction:vararg\n"
        "8:  \\instruction\n"
        "    .pushsection entry_ops, \"a\", @progbits\n"
        "    .long 8b - .\n"
        "    .popsection\n"
        "    .endm\n"

        "    .macro next_if opcode, label, offset\n"
        "    op .byte 0x0f, \\opcode\n"
        "9:  .long \\label - . - 4\n"
        "    .pushsection entry_jumps, \"a\", @progbits\n"
        "    .long 9b - .\n"
        "    .long \\offset\n"
        "    .popsection\n"
        "    .endm\n"

        "    .pushsection entry_ops, \"a\", @progbits\n"
        "    .balign 4\n"
        "    .hidden hook_entry_ops\n"
        "    .globl hook_entry_ops\n"
        "hook_entry_ops:\n"
        "    .popsection\n"

        "    .pushsection entry_jumps, \"a\", @progbits\n"
        "    .balign 4\n"
        "    .hidden hook_entry_jumps\n"
        "    .globl hook_entry_jumps\n"
        "hook_entry_jumps:\n"
        "    .popsection\n"

        "    .pushsection .text.hook_entry, \"ax\", @progbits\n"
        "    .balign 4096\n"
        "    .hidden hook_entry_page\n"
        "    .globl hook_entry_page\n"
        "hook_entry_page:\n"

        "    .globl malloc\n"
        "    .type malloc, @function\n"
        "malloc:\n"
        "    .cfi_startproc\n" ENTRY "    op test %rdi, %rdi\n"
        "    op jle 2f\n" /* empty, or beyond PTRDIFF_MAX */
        "    op mov sampler_until@gottpoff(%rip), %rax\n"
        "    op sub %rdi, %fs:(%rax)\n"
        "    next_if 0x8f, 1f, 0\n" /* greater than 0 is left */
        "2:  op jmp malloc_sampled\n"
        "1:  op jmp *next+0(%rip)\n"
        "    .balign 256, 0xcc\n"
        "    .cfi_endproc\n"
        "    .size malloc, . - malloc\n"

        "    .globl free\n"
        "    .type free, @function\n"
        "free:\n"
        "    .cfi_startproc\n" ENTRY "    op cmp range_end(%rip), %rdi\n"
        "    next_if 0x83, 1f, 24\n" /* above or equal */
        "    op cmp range_base(%rip), %rdi\n"
        "    next_if 0x82, 1f, 24\n" /* below */
        "    op jmp event_free\n"
        "1:  op jmp *next+24(%rip)\n"
        "    .balign 256, 0xcc\n"
        "    .cfi_endproc\n"
        "    .size free, . - free\n"

        "    .balign 4096\n"
        "    .popsection\n"

        "    .pushsection entry_jumps, \"a\", @progbits\n"
        "    .hidden hook_entry_jumps_end\n"
        "    .globl hook_entry_jumps_end\n"
        "hook_entry_jumps_end:\n"
        "    .popsection\n"
        "    .pushsection entry_ops, \"a\", @progbits\n"
        "    .hidden hook_entry_ops_end\n"
        "    .globl hook_entry_ops_end\n"
        "hook_entry_ops_end:\n"
        "    .popsection\n"
        "    .purgem next_if\n"
        "    .purgem op\n");
