/* no_new_code.c: runs a command where memory that was written to can never become executable.
 *
 *     no_new_code COMMAND...
 *
 * As systemd's MemoryDenyWriteExecute does it: mprotect with PROT_EXEC, and mmap with it and
 * PROT_WRITE, fail with EPERM (systemd.exec(5)). */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offset))
#define PROTECTION (offsetof(struct seccomp_data, args) + 2 * sizeof(uint64_t))

int main(int argc, char **argv)
{
    struct sock_filter code[] = {
        LOAD(offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 2),
        LOAD(PROTECTION),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 4, 5),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 4),
        LOAD(PROTECTION),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, PROT_EXEC | PROT_WRITE),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROT_EXEC | PROT_WRITE, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};
    if (argc < 2)
        return 2;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("no_new_code");
        return 1;
    }
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    return 1;
}
