/* target_check.c: whether a command can be profiled at all, told from its file.
 *
 * Follows what the kernel and execvp do: PATH, then "#!" lines (at most four deep, 256 bytes, one
 * argument), looking through env, whose "interpreter" is the program it starts. Source: execve(2),
 * execvp(3), Linux fs/binfmt_script.c, security/commoncap.c. */
#include "cli/target_check.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/target_elf.h"

enum { MAX_INTERPRETERS = 5, SCRIPT_LINE = 256 };

static const struct {
    uint16_t machine;
    const char *name;
} machines[] = {
    {EM_386, "32-bit x86"},      {EM_AARCH64, "64-bit ARM"}, {EM_ARM, "32-bit ARM"},
    {EM_RISCV, "RISC-V"},        {EM_PPC64, "POWER"},        {EM_S390, "s390"},
    {EM_LOONGARCH, "LoongArch"}, {EM_MIPS, "MIPS"},          {EM_X86_64, "x32"},
};

static void __attribute__((format(printf, 3, 4)))
refuse(struct target_check *check, bool keeps_preload, const char *format, ...)
{
    check->can_profile = false;
    check->keeps_preload = keeps_preload;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(check->reason, sizeof(check->reason), format, arguments);
    va_end(arguments);
}

static bool is_executable_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

/* The file that execvp(command) would try first with success. False when there is none. */
static bool find_command(const char *command, char *path, size_t size)
{
    if (strchr(command, '/'))
        return (size_t)snprintf(path, size, "%s", command) < size && is_executable_file(path);
    const char *list = getenv("PATH");
    char standard[256];
    if (!list) {
        confstr(_CS_PATH, standard, sizeof(standard));
        list = standard;
    }
    for (;;) {
        size_t length = strcspn(list, ":");
        int written = length ? snprintf(path, size, "%.*s/%s", (int)length, list, command)
                             : snprintf(path, size, "%s", command);
        if (written > 0 && (size_t)written < size && is_executable_file(path))
            return true;
        if (list[length] == '\0')
            return false;
        list += length + 1;
    }
}

/* Whether executing the file gives privileges, which makes the loader ignore LD_PRELOAD. */
static bool gives_privileges(int fd, const struct stat *st, const char **how)
{
    struct statvfs fs;
    if (geteuid() != getuid() || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
        (fstatvfs(fd, &fs) == 0 && (fs.f_flag & ST_NOSUID) != 0))
        return false;
    *how = "is set-user-id";
    if ((st->st_mode & S_ISUID) != 0 && st->st_uid != geteuid())
        return true;
    *how = "is set-group-id";
    if ((st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st->st_gid != getegid())
        return true;
    *how = "has file capabilities";
    return geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

static bool is_glibc_loader(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    return strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "ld-2.", 5) == 0 ||
           strcmp(name, "ld.so") == 0;
}

static void judge_elf(struct target_check *check, const struct target_elf *elf)
{
    const char *interpreter = strrchr(elf->interpreter, '/');
    interpreter = interpreter ? interpreter + 1 : elf->interpreter;
    if (!elf->is_x86_64) {
        const char *name = "another architecture";
        for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
            if (machines[i].machine == elf->machine)
                name = machines[i].name;
        refuse(check, false, "is built for %s, only x86-64 programs can be profiled", name);
    } else if (is_glibc_loader(check->file)) {
        return; /* ld.so PROGRAM: linked statically, but it preloads */
    } else if (elf->interpreter[0] == '\0') {
        refuse(check, true, "is statically linked");
    } else if (strncmp(interpreter, "ld-musl", 7) == 0) {
        refuse(check, false, "uses the musl C library (%s), only glibc programs can be profiled",
               interpreter);
    } else if (elf->needs_asan) {
        refuse(check, false, "is built with AddressSanitizer, which replaces the allocator");
    }
}

/* The next word of an env -S text or of a "#!" line; NULL at the end. Cuts *rest. */
static char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " \t");
    if (*word == '\0')
        return NULL;
    char *end = word + strcspn(word, " \t");
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

/* The program that env starts with the argument of a "#!" line; NULL when it cannot be told. */
static char *env_program(char *argument)
{
    if (strncmp(argument, "-S", 2) == 0)
        argument += 2;
    else if (strncmp(argument, "--split-string=", 15) == 0)
        argument += 15;
    else if (argument[0] != '-')
        return argument; /* the kernel passes one argument, spaces included */
    char *word;
    while ((word = next_word(&argument))) {
        if (word[0] != '-' && !strchr(word, '='))
            return word;
    }
    return NULL;
}

/* The interpreter in a script's first line, into path. False when it is no script. */
static bool script_interpreter(int fd, char *path, size_t size)
{
    char line[SCRIPT_LINE + 1];
    ssize_t got = pread(fd, line, SCRIPT_LINE, 0);
    if (got < 2 || line[0] != '#' || line[1] != '!')
        return false;
    line[got] = '\0';
    line[strcspn(line, "\n")] = '\0';
    for (size_t end = strlen(line); end > 2 && strchr(" \t\r", line[end - 1]); end--)
        line[end - 1] = '\0';
    char *rest = line + 2;
    char *interpreter = next_word(&rest);
    if (!interpreter)
        return false;
    const char *base = strrchr(interpreter, '/');
    base = base ? base + 1 : interpreter;
    rest += strspn(rest, " \t");
    if (strcmp(base, "env") == 0 && *rest != '\0') {
        char *program = env_program(rest);
        return program && find_command(program, path, size);
    }
    return (size_t)snprintf(path, size, "%s", interpreter) < size;
}

/* Looks at check->file; true when it is a script and check->file has become its interpreter. */
static bool check_file(struct target_check *check)
{
    int fd = open(check->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false; /* executable but not readable: nothing is known against it */
    struct stat st;
    struct target_elf elf;
    const char *how;
    bool is_script = false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        target_elf_read(fd, &elf);
        if (elf.is_elf && gives_privileges(fd, &st, &how))
            refuse(check, true, "%s, which makes the dynamic loader ignore LD_PRELOAD", how);
        else if (elf.is_elf)
            judge_elf(check, &elf);
        else
            is_script = script_interpreter(fd, check->file, sizeof(check->file));
    }
    close(fd);
    return is_script;
}

void target_check(const char *command, struct target_check *check)
{
    *check = (struct target_check){.can_profile = true, .keeps_preload = true};
    if (!find_command(command, check->file, sizeof(check->file))) {
        snprintf(check->file, sizeof(check->file), "%s", command);
        return;
    }
    for (int depth = 0; depth < MAX_INTERPRETERS && check_file(check); depth++)
        continue;
}
