/* file_bytes_test.c: whole files, pipes and what is neither. */
#include "proto/file_bytes.h"

#include "proto/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT ((size_t)1 << 20)

struct folder {
    char path[64];
    char file[96];
};

static int make_folder(void **state)
{
    static struct folder only;
    struct folder *folder = &only;
    strcpy(folder->path, "/tmp/heapprof-test-XXXXXX");
    if (!mkdtemp(folder->path))
        return -1;
    strcpy(folder->file, folder->path);
    strcat(folder->file, "/file");
    *state = folder;
    return 0;
}

static int remove_folder(void **state)
{
    struct folder *folder = *state;
    unlink(folder->file);
    return rmdir(folder->path);
}

static void write_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < size; i++)
        fputc((int)(i % 251), file);
    assert_int_equal(fclose(file), 0);
}

static void assert_read(const char *path, size_t expected)
{
    struct error error = {0};
    uint8_t *bytes;
    size_t size;
    assert_true(file_bytes_read(path, LIMIT, &bytes, &size, &error));
    assert_int_equal(size, expected);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(bytes[i], i % 251);
    free(bytes);
}

static void assert_refused(const char *path, const char *expected)
{
    struct error error = {0};
    uint8_t *bytes;
    size_t size;
    assert_false(file_bytes_read(path, LIMIT, &bytes, &size, &error));
    assert_non_null(strstr(error.text, expected));
    if (strcmp(path, "-") != 0)
        assert_memory_equal(error.text, path, strlen(path));
}

static void a_file_is_read_whole_up_to_the_limit(void **state)
{
    struct folder *folder = *state;
    static const size_t sizes[] = {1, 4095, 65536, 65537, LIMIT - 1, LIMIT};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        write_file(folder->file, sizes[i]);
        assert_read(folder->file, sizes[i]);
    }
    write_file(folder->file, LIMIT + 1);
    assert_refused(folder->file, ": too large: more than 1 MiB");
}

static void what_cannot_be_read_is_told_by_name(void **state)
{
    struct folder *folder = *state;
    assert_refused(folder->file, ": cannot be opened: No such file or directory");
    assert_refused(folder->path, ": is a directory");
    write_file(folder->file, 0);
    assert_refused(folder->file, ": empty file");
    assert_refused("/dev/null", ": empty file");
    assert_refused("/dev/zero", ": too large: more than 1 MiB");
}

static void where_nothing_will_do_an_empty_file_is_read(void **state)
{
    struct folder *folder = *state;
    struct error error = {0};
    uint8_t *bytes;
    size_t size = 1;
    write_file(folder->file, 0);
    assert_true(file_bytes_read_any(folder->file, LIMIT, &bytes, &size, &error));
    assert_int_equal(size, 0);
    free(bytes);
    write_file(folder->file, 5);
    assert_true(file_bytes_read_any(folder->file, LIMIT, &bytes, &size, &error));
    assert_int_equal(size, 5);
    free(bytes);
    assert_false(file_bytes_read_any(folder->path, LIMIT, &bytes, &size, &error));
    assert_null(bytes);
}

static void a_fifo_is_read_to_its_end(void **state)
{
    struct folder *folder = *state;
    static const size_t sizes[] = {0, 1, 300000};
    assert_int_equal(mkfifo(folder->file, 0600), 0);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        pid_t child = fork();
        if (child == 0) {
            write_file(folder->file, sizes[i]);
            _exit(0);
        }
        if (sizes[i] > 0)
            assert_read(folder->file, sizes[i]);
        else
            assert_refused(folder->file, ": empty file");
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

static void a_dash_is_standard_input(void **state)
{
    struct folder *folder = *state;
    int saved = dup(STDIN_FILENO);
    write_file(folder->file, 12345);
    int file = open(folder->file, O_RDONLY);
    assert_int_equal(dup2(file, STDIN_FILENO), STDIN_FILENO);
    close(file);
    assert_read("-", 12345);
    assert_refused("-", "standard input: empty file");
    dup2(saved, STDIN_FILENO);
    close(saved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_is_read_whole_up_to_the_limit, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(what_cannot_be_read_is_told_by_name, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(where_nothing_will_do_an_empty_file_is_read, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_fifo_is_read_to_its_end, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_dash_is_standard_input, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
