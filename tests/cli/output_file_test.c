/* output_file_test.c: files appear whole or not at all, and only regular ones are replaced. */
#include "cli/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "proto/error.h"

static char folder[64];

static int enter_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/output_file_test-XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static void write_file(const char *path, const char *text)
{
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
}

static void assert_file(const char *path, const char *text)
{
    char found[256] = "";
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    size_t length = fread(found, 1, sizeof(found) - 1, stream);
    found[length] = '\0';
    fclose(stream);
    assert_string_equal(found, text);
}

static void assert_entries(const char *expected)
{
    char command[256];
    snprintf(command, sizeof(command), "test \"$(ls -A '%s' | tr '\\n' ' ')\" = '%s'", folder,
             expected);
    assert_int_equal(system(command), 0);
}

static void the_file_appears_at_commit_only(void **state)
{
    (void)state;
    write_file("a.prof", "old");
    struct output_file *output = output_open("a.prof", NULL);
    assert_non_null(output);
    fputs("new", output_stream(output));
    fflush(output_stream(output));
    assert_file("a.prof", "old");
    assert_true(output_commit(output, NULL));
    assert_file("a.prof", "new");
    assert_entries("a.prof ");
}

static void a_discarded_file_leaves_nothing(void **state)
{
    (void)state;
    struct output_file *output = output_open("b.prof", NULL);
    fputs("new", output_stream(output));
    output_discard(output);
    output_discard(NULL);
    assert_entries("");
}

static void the_mode_is_that_of_the_umask(void **state)
{
    (void)state;
    mode_t before = umask(027);
    assert_true(output_commit(output_open("c.prof", NULL), NULL));
    umask(before);
    struct stat st;
    assert_int_equal(stat("c.prof", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

static void a_link_stays_and_its_target_is_replaced(void **state)
{
    (void)state;
    assert_int_equal(mkdir("sub", 0777), 0);
    write_file("sub/real", "old");
    assert_int_equal(symlink("sub/second", "first"), 0);
    assert_int_equal(symlink("real", "sub/second"), 0);
    struct output_file *output = output_open("first", NULL);
    fputs("new", output_stream(output));
    assert_true(output_commit(output, NULL));
    assert_file("sub/real", "new");
    struct stat st;
    assert_int_equal(lstat("first", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(lstat("sub/second", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
}

static void a_dangling_link_gets_its_target(void **state)
{
    (void)state;
    assert_int_equal(symlink("target", "link"), 0);
    assert_true(output_commit(output_open("link", NULL), NULL));
    assert_int_equal(access("target", F_OK), 0);
}

static void a_loop_of_links_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(symlink("x", "y"), 0);
    assert_int_equal(symlink("y", "x"), 0);
    struct error error;
    assert_null(output_open("x", &error));
    assert_non_null(strstr(error.text, "x: "));
    assert_false(output_probe(AT_FDCWD, "x", NULL));
}

static void devices_stay_devices(void **state)
{
    (void)state;
    assert_true(output_is_straight(AT_FDCWD, "/dev/null"));
    assert_true(output_commit(output_open("/dev/null", NULL), NULL));
    struct stat st;
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

static void a_full_disk_is_found_at_commit(void **state)
{
    (void)state;
    struct error error;
    struct output_file *output = output_open("/dev/full", NULL);
    assert_non_null(output);
    fputs("something", output_stream(output));
    assert_false(output_commit(output, &error));
    assert_non_null(strstr(error.text, "/dev/full"));
    assert_non_null(strstr(error.text, strerror(ENOSPC)));
}

static void an_earlier_write_error_is_not_forgotten(void **state)
{
    (void)state;
    write_file("d.prof", "old");
    struct output_file *output = output_open("d.prof", NULL);
    FILE *stream = output_stream(output);
    int fd = dup(fileno(stream)), full = open("/dev/full", O_WRONLY);
    dup2(full, fileno(stream));
    setvbuf(stream, NULL, _IONBF, 0);
    fputc('x', stream);
    dup2(fd, fileno(stream)); /* the disk has room again */
    close(full);
    close(fd);
    assert_false(output_commit(output, NULL));
    assert_file("d.prof", "old");
    assert_entries("d.prof ");
}

static void standard_output_is_written_straight(void **state)
{
    (void)state;
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    write_file("all", "before ");
    fflush(stdout);
    int kept = dup(1), all = open("all", O_WRONLY | O_APPEND);
    dup2(all, 1);
    bool ok = true;
    for (size_t i = 0; i < 4; i++) {
        struct output_file *output = output_open(names[i], NULL);
        ok = ok && output && output_is_straight(AT_FDCWD, names[i]);
        if (output) {
            fputs("x", output_stream(output));
            ok = output_commit(output, NULL) && ok;
        }
    }
    dup2(kept, 1);
    close(kept);
    close(all);
    assert_true(ok);
    assert_file("all", "before xxxx");
}

static void relative_names_start_at_the_folder_given(void **state)
{
    (void)state;
    assert_int_equal(mkdir("base", 0777), 0);
    int base = open("base", O_PATH | O_DIRECTORY);
    assert_int_equal(chdir("/"), 0);
    assert_true(output_probe(base, "e.prof", NULL));
    assert_true(output_commit(output_open_at(base, "e.prof", NULL), NULL));
    assert_int_equal(faccessat(base, "e.prof", F_OK, 0), 0);
    assert_int_equal(chdir(folder), 0);
    close(base);
}

static void what_cannot_be_written_is_told_before(void **state)
{
    (void)state;
    struct error error;
    assert_int_equal(mkdir("dir", 0777), 0);
    assert_false(output_probe(AT_FDCWD, "dir", &error));
    assert_string_equal(error.text, "dir: cannot be written: Is a directory");
    assert_false(output_probe(AT_FDCWD, "no/such", &error));
    assert_false(output_probe(AT_FDCWD, "dir/", &error));
    assert_false(output_probe(AT_FDCWD, "", &error));
    assert_null(output_open("dir", &error));
    assert_entries("dir ");
    char name[NAME_MAX + 2];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_false(output_probe(AT_FDCWD, name, &error));
}

static void a_name_of_the_greatest_length_works(void **state)
{
    (void)state;
    char name[NAME_MAX + 1];
    memset(name, 'n', NAME_MAX);
    name[NAME_MAX] = '\0';
    assert_true(output_probe(AT_FDCWD, name, NULL));
    assert_true(output_commit(output_open(name, NULL), NULL));
    assert_int_equal(access(name, F_OK), 0);
}

static void probing_touches_nothing(void **state)
{
    (void)state;
    write_file("old", "content");
    assert_true(output_probe(AT_FDCWD, "old", NULL));
    assert_true(output_probe(AT_FDCWD, "new", NULL));
    assert_true(output_probe(AT_FDCWD, "/dev/null", NULL));
    assert_false(output_is_straight(AT_FDCWD, "old"));
    assert_false(output_is_straight(AT_FDCWD, "new"));
    assert_entries("old ");
    assert_file("old", "content");
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(the_file_appears_at_commit_only),
        IN_FOLDER(a_discarded_file_leaves_nothing),
        IN_FOLDER(the_mode_is_that_of_the_umask),
        IN_FOLDER(a_link_stays_and_its_target_is_replaced),
        IN_FOLDER(a_dangling_link_gets_its_target),
        IN_FOLDER(a_loop_of_links_is_an_error),
        IN_FOLDER(devices_stay_devices),
        IN_FOLDER(a_full_disk_is_found_at_commit),
        IN_FOLDER(an_earlier_write_error_is_not_forgotten),
        IN_FOLDER(standard_output_is_written_straight),
        IN_FOLDER(relative_names_start_at_the_folder_given),
        IN_FOLDER(what_cannot_be_written_is_told_before),
        IN_FOLDER(a_name_of_the_greatest_length_works),
        IN_FOLDER(probing_touches_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
