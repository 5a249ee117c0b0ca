/* scratch.h: a folder that a test builds small programs in, gone when the test ends.
 *
 * All static: a unit test is one file. Compilers and binutils are run through the shell; a command
 * that fails, fails the test and shows its output. */
#ifndef HEAPPROF_TESTS_SYMBOLIZE_SCRATCH_H
#define HEAPPROF_TESTS_SYMBOLIZE_SCRATCH_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

static char scratch_folder[256];

__attribute__((unused)) static int scratch_setup(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(scratch_folder, sizeof(scratch_folder), "%s/symbolize-XXXXXX",
             parent && *parent ? parent : "/tmp");
    return mkdtemp(scratch_folder) ? 0 : -1;
}

/* Runs a shell command in the folder. */
__attribute__((unused, format(printf, 1, 2))) static void scratch_run(const char *format, ...)
{
    char command[4096];
    int length = snprintf(command, sizeof(command), "cd '%s' && exec 2>&1 && ", scratch_folder);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command + length, sizeof(command) - (size_t)length, format, arguments);
    va_end(arguments);
    if (system(command) != 0)
        fail_msg("failed: %s", command);
}

__attribute__((unused)) static int scratch_teardown(void **state)
{
    (void)state;
    scratch_run("rm -rf '%s'", scratch_folder);
    return 0;
}

/* The path of a file in the folder; the result is good for four further calls. */
__attribute__((unused)) static const char *scratch_path(const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", scratch_folder, name);
    return path;
}

__attribute__((unused)) static void scratch_write(const char *name, const char *text)
{
    FILE *file = fopen(scratch_path(name), "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* The whole file, NUL-terminated; freed by the caller. */
__attribute__((unused)) static char *scratch_read(const char *name, size_t *size)
{
    FILE *file = fopen(scratch_path(name), "r");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long length = ftell(file);
    assert_true(length >= 0);
    rewind(file);
    char *bytes = malloc((size_t)length + 1);
    assert_non_null(bytes);
    size_t got = fread(bytes, 1, (size_t)length, file);
    fclose(file);
    bytes[got] = '\0';
    if (size)
        *size = got;
    return bytes;
}

/* The value of the symbol in the file, by nm. */
__attribute__((unused)) static uint64_t scratch_symbol(const char *file, const char *symbol)
{
    scratch_run("nm %s | awk '$3 == \"%s\" {print $1}' > nm.out", file, symbol);
    char *text = scratch_read("nm.out", NULL);
    uint64_t value = strtoull(text, NULL, 16);
    if (value == 0)
        fail_msg("no symbol %s in %s", symbol, file);
    free(text);
    return value;
}

#endif
