/* collector_proc_test.c: what /proc tells about a process, seen on this one and its children. */
#include "cli/collector_proc.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void arguments_are_quoted_as_a_shell_needs_it(void **state)
{
    (void)state;
    char *line = proc_quote((char *[]){"app", "-x", "a b", "it's", "", "t\tn\n", "k=v", NULL});
    assert_string_equal(line, "app -x 'a b' 'it'\\''s' '' 't?n?' k=v");
    free(line);
    line = proc_quote((char *[]){NULL});
    assert_string_equal(line, "");
    free(line);
}

static void a_long_command_line_is_cut(void **state)
{
    (void)state;
    char argument[5000];
    memset(argument, 'x', sizeof(argument) - 1);
    argument[sizeof(argument) - 1] = '\0';
    char *line = proc_quote((char *[]){argument, argument, NULL});
    assert_in_range(strlen(line), 900, 1010);
    assert_string_equal(line + strlen(line) - 3, "...");
    free(line);
    for (size_t length = 960; length < 1010; length++) { /* all ends near the limit */
        argument[length] = '\0';
        argument[length - 1] = '\'';
        line = proc_quote((char *[]){argument, "a b", "c", NULL});
        assert_in_range(strlen(line), 900, 1015);
        free(line);
        argument[length] = argument[length - 1] = 'x';
    }
}

static void this_process_is_known(void **state)
{
    (void)state;
    char *executable = proc_executable(getpid());
    assert_non_null(strstr(executable, "collector_proc_test"));
    free(executable);
    char *line = proc_command_line(getpid());
    assert_non_null(strstr(line, "collector_proc_test"));
    free(line);
    assert_int_equal(proc_state(getpid()), 'R');
    char *path = proc_mapped_file(getpid(), (uint64_t)(uintptr_t)&this_process_is_known);
    assert_non_null(strstr(path, "collector_proc_test"));
    free(path);
    path = proc_mapped_file(getpid(), 1);
    assert_string_equal(path, "");
    free(path);
}

static void only_regular_files_are_opened(void **state)
{
    (void)state;
    int fd = proc_open_file(getpid(), "");
    assert_true(fd >= 0);
    close(fd);
    fd = proc_open_file(getpid(), "/bin/sh");
    assert_true(fd >= 0);
    close(fd);
    char fifo[] = "/tmp/collector_proc_test-XXXXXX";
    assert_non_null(mkdtemp(fifo));
    char path[64];
    strcpy(path, fifo);
    strcat(path, "/fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(proc_open_file(getpid(), path), -1); /* and it does not block */
    unlink(path);
    rmdir(fifo);
    assert_int_equal(proc_open_file(getpid(), "/dev/null"), -1);
    assert_int_equal(proc_open_file(getpid(), "/proc"), -1);
    assert_int_equal(proc_open_file(getpid(), "relative"), -1);
    assert_int_equal(proc_open_file(getpid(), "/no/such/file"), -1);
}

/* A child that ends when the pipe's other end is closed. */
static pid_t start_child(int *end)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(ends[0]);
    *end = ends[1];
    return child;
}

static void an_end_is_seen_by_its_pidfd(void **state)
{
    (void)state;
    int end;
    pid_t child = start_child(&end);
    int pidfd = proc_pidfd(child);
    assert_true(pidfd >= 0);
    assert_false(proc_has_ended(pidfd));
    close(end);
    struct pollfd poll_fd = {.fd = pidfd, .events = POLLIN};
    assert_int_equal(poll(&poll_fd, 1, 10000), 1);
    assert_true(proc_has_ended(pidfd));
    assert_int_equal(proc_state(child), 'Z');
    waitpid(child, NULL, 0);
    assert_int_equal(proc_state(child), 0);
    close(pidfd);
    assert_int_equal(proc_pidfd(child), -1);
}

static void a_forked_child_is_recognised(void **state)
{
    (void)state;
    int store = memfd_create("store", MFD_CLOEXEC), other = memfd_create("other", MFD_CLOEXEC), end;
    assert_int_equal(ftruncate(store, 4096), 0);
    void *mapping = mmap(NULL, 4096, PROT_NONE, MAP_SHARED, store, 0);
    pid_t child = start_child(&end);
    struct proc_child who = {
        .own_pid = child, .parent = getpid(), .store = store, .assignment = "NO=such"};
    assert_int_equal(proc_find(&who), child); /* by its parent */
    who.parent = 0;
    assert_int_equal(proc_find(&who), child); /* by its mapping */
    who.store = other;
    assert_int_equal(proc_find(&who), -1);
    close(end);
    waitpid(child, NULL, 0);
    who.store = store;
    assert_int_equal(proc_find(&who), -1); /* gone */
    who.own_pid = 0;
    assert_int_equal(proc_find(&who), -1);
    munmap(mapping, 4096);
    close(store);
    close(other);
}

static bool skip_none(const void *context, pid_t pid)
{
    return pid == *(const pid_t *)context;
}

static void a_process_is_found_by_its_environment(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, 0), 0);
    pid_t self = getpid(), child = fork();
    if (child == 0) {
        dup2(ends[0], 0);
        close(ends[0]);
        close(ends[1]);
        char *environment[] = {"A=b", "HEAPPROF_TEST_NAME=/unique/value", NULL};
        execle("/bin/cat", "cat", (char *)NULL, environment);
        _exit(1);
    }
    const char *wanted = "HEAPPROF_TEST_NAME=/unique/value";
    pid_t found = 0;
    for (int tries = 0; tries < 1000 && found == 0; tries++) { /* until it has executed cat */
        found = proc_find_environment(self, wanted, skip_none, &self);
        poll(NULL, 0, found == 0 ? 10 : 0);
    }
    assert_int_equal(found, child);
    assert_int_equal(proc_find_environment(self, wanted, skip_none, &child), 0);
    assert_int_equal(proc_find_environment(self, "HEAPPROF_TEST_NAME=/unique", skip_none, &self),
                     0);
    close(ends[0]);
    close(ends[1]);
    waitpid(child, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_quoted_as_a_shell_needs_it),
        cmocka_unit_test(a_long_command_line_is_cut),
        cmocka_unit_test(this_process_is_known),
        cmocka_unit_test(only_regular_files_are_opened),
        cmocka_unit_test(an_end_is_seen_by_its_pidfd),
        cmocka_unit_test(a_forked_child_is_recognised),
        cmocka_unit_test(a_process_is_found_by_its_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
