/* target_check_test.c: which commands can be profiled, told from their files. */
#include "cli/target_check.h"

#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static int enter_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/target_check_test-XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static void write_program(const char *path, const void *bytes, size_t size)
{
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    fclose(stream);
    assert_int_equal(chmod(path, 0755), 0);
}

static void write_script(const char *path, const char *text)
{
    write_program(path, text, strlen(text));
}

/* An ELF file that has nothing but what the check looks at. */
static void write_elf(const char *path, uint16_t machine, const char *interpreter)
{
    struct {
        Elf64_Ehdr header;
        Elf64_Phdr segment;
        char interpreter[64];
    } file = {
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, 1},
                   .e_type = ET_DYN,
                   .e_machine = machine,
                   .e_phoff = sizeof(Elf64_Ehdr),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = 1},
        .segment = {.p_type = interpreter ? PT_INTERP : PT_NOTE,
                    .p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr)},
    };
    if (interpreter)
        strcpy(file.interpreter, interpreter);
    write_program(path, &file, sizeof(file));
}

static void assert_refused(const char *command, const char *file, const char *reason)
{
    struct target_check check;
    target_check(command, &check);
    assert_false(check.can_profile);
    assert_string_equal(check.file, file);
    assert_non_null(strstr(check.reason, reason));
}

static void assert_accepted(const char *command)
{
    struct target_check check;
    target_check(command, &check);
    assert_true(check.can_profile);
    assert_true(check.keeps_preload);
    assert_string_equal(check.reason, "");
}

static void a_dynamic_glibc_program_is_accepted(void **state)
{
    (void)state;
    write_elf("app", EM_X86_64, "/lib64/ld-linux-x86-64.so.2");
    assert_accepted("./app");
    assert_accepted("env");
}

static void a_program_without_interpreter_is_static(void **state)
{
    (void)state;
    struct target_check check;
    write_elf("app", EM_X86_64, NULL);
    assert_refused("./app", "./app", "statically linked");
    target_check("./app", &check);
    assert_true(check.keeps_preload); /* its children may be dynamic */
}

static void the_dynamic_loader_as_a_command_is_accepted(void **state)
{
    (void)state;
    write_elf("ld-linux-x86-64.so.2", EM_X86_64, NULL);
    assert_accepted("./ld-linux-x86-64.so.2");
}

static void musl_and_other_machines_do_not_get_our_library(void **state)
{
    (void)state;
    struct target_check check;
    write_elf("app", EM_X86_64, "/lib/ld-musl-x86_64.so.1");
    assert_refused("./app", "./app", "musl");
    target_check("./app", &check);
    assert_false(check.keeps_preload);
    write_elf("arm", EM_AARCH64, "/lib/ld-linux-aarch64.so.1");
    assert_refused("./arm", "./arm", "64-bit ARM");
    target_check("./arm", &check);
    assert_false(check.keeps_preload);
}

static void a_script_is_judged_by_its_interpreter(void **state)
{
    (void)state;
    char text[256];
    write_elf("app", EM_X86_64, NULL);
    snprintf(text, sizeof(text), "#! \t%s/app -x y\n", folder);
    write_script("one", text);
    snprintf(text, sizeof(text), "#!%s/one\n", folder);
    write_script("two", text);
    char app[96];
    snprintf(app, sizeof(app), "%s/app", folder);
    assert_refused("./one", app, "statically linked");
    assert_refused("./two", app, "statically linked");
    write_script("shell", "#!/bin/sh\n");
    assert_accepted("./shell");
    write_script("none", "echo without a first line\n");
    assert_accepted("./none");
}

static void env_in_a_script_is_looked_through(void **state)
{
    (void)state;
    char path[256];
    write_elf("staticapp", EM_X86_64, NULL);
    snprintf(path, sizeof(path), "%s:%s", folder, getenv("PATH"));
    char *before = strdup(getenv("PATH"));
    setenv("PATH", path, 1);
    char app[96];
    snprintf(app, sizeof(app), "%s/staticapp", folder);
    write_script("a", "#!/usr/bin/env staticapp\n");
    assert_refused("./a", app, "statically linked");
    write_script("b", "#!/usr/bin/env -S X=1 staticapp -v\n");
    assert_refused("./b", app, "statically linked");
    write_script("c", "#!/usr/bin/env --split-string=staticapp -v\n");
    assert_refused("./c", app, "statically linked");
    write_script("d", "#!/usr/bin/env sh\n");
    assert_accepted("./d");
    assert_refused("staticapp", app, "statically linked"); /* found by PATH */
    setenv("PATH", before, 1);
    free(before);
}

static void a_script_that_is_its_own_interpreter_ends(void **state)
{
    (void)state;
    char text[256];
    snprintf(text, sizeof(text), "#!%s/loop\n", folder);
    write_script("loop", text);
    assert_accepted("./loop");
}

static void a_set_user_id_program_of_somebody_else_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        assert_refused("su", "/usr/bin/su", "set-user-id");
        return;
    }
    write_elf("app", EM_X86_64, "/lib64/ld-linux-x86-64.so.2");
    assert_int_equal(chown("app", 65534, 65534), 0);
    assert_int_equal(chmod("app", 04755), 0);
    assert_refused("./app", "./app", "set-user-id");
    assert_int_equal(chmod("app", 02755), 0);
    assert_refused("./app", "./app", "set-group-id");
    assert_int_equal(chmod("app", 02745), 0); /* not executable for the group: means nothing */
    assert_accepted("./app");
    assert_int_equal(chown("app", 0, 0), 0);
    assert_int_equal(chmod("app", 04755), 0); /* ours anyway */
    assert_accepted("./app");
}

static void commands_that_do_not_exist_are_not_judged(void **state)
{
    (void)state;
    assert_accepted("no-such-command-anywhere");
    assert_accepted("./no-such");
    assert_accepted("/");
    assert_accepted("");
}

static void truncated_and_random_files_do_no_harm(void **state)
{
    (void)state;
    write_elf("whole", EM_X86_64, "/lib64/ld-linux-x86-64.so.2");
    char bytes[256];
    int fd = open("whole", O_RDONLY);
    ssize_t size = read(fd, bytes, sizeof(bytes));
    close(fd);
    struct target_check check;
    for (ssize_t length = 0; length < size; length++) {
        write_program("cut", bytes, (size_t)length);
        target_check("./cut", &check);
    }
    for (ssize_t at = 0; at < size; at++) {
        bytes[at] ^= (char)0xff;
        write_program("flipped", bytes, (size_t)size);
        bytes[at] ^= (char)0xff;
        target_check("./flipped", &check);
    }
    assert_accepted("./whole");
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_dynamic_glibc_program_is_accepted),
        IN_FOLDER(a_program_without_interpreter_is_static),
        IN_FOLDER(the_dynamic_loader_as_a_command_is_accepted),
        IN_FOLDER(musl_and_other_machines_do_not_get_our_library),
        IN_FOLDER(a_script_is_judged_by_its_interpreter),
        IN_FOLDER(env_in_a_script_is_looked_through),
        IN_FOLDER(a_script_that_is_its_own_interpreter_ends),
        IN_FOLDER(a_set_user_id_program_of_somebody_else_is_refused),
        IN_FOLDER(commands_that_do_not_exist_are_not_judged),
        IN_FOLDER(truncated_and_random_files_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
