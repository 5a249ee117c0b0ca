/* target_elf.h: what the headers of an executable say about its loader.
 *
 * Reads hostile files: every offset is checked against what pread returns. */
#ifndef HEAPPROF_CLI_TARGET_ELF_H
#define HEAPPROF_CLI_TARGET_ELF_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct target_elf {
    bool is_elf;
    bool is_x86_64;   /* 64-bit, little-endian, EM_X86_64 */
    uint16_t machine; /* e_machine as in <elf.h>; only when is_elf */
    bool is_64bit;
    char interpreter[PATH_MAX]; /* "" when it has none: statically linked */
    bool needs_asan;            /* links the shared AddressSanitizer, which must come first */
};

/* Fills *elf from the file open at fd. All false when it is no ELF file. */
void target_elf_read(int fd, struct target_elf *elf);

#endif
