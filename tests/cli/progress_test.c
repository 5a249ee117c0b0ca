/* progress_test.c: what we are at, on a terminal only.
 *
 * Each test puts a pseudo terminal or a pipe in the place of stderr and reads what arrives there.
 */
#include "cli/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_MS 20000

/* A terminal whose one end is stderr. */
struct terminal {
    int screen; /* the other end */
    int kept_stderr;
    char text[4096];
    size_t length;
};

static void terminal_open(struct terminal *terminal)
{
    memset(terminal, 0, sizeof(*terminal));
    terminal->screen = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(terminal->screen >= 0 && grantpt(terminal->screen) == 0 &&
                unlockpt(terminal->screen) == 0);
    int line = open(ptsname(terminal->screen), O_RDWR | O_NOCTTY);
    assert_true(line >= 0);
    terminal->kept_stderr = dup(STDERR_FILENO);
    dup2(line, STDERR_FILENO);
    close(line);
}

static void terminal_close(struct terminal *terminal)
{
    dup2(terminal->kept_stderr, STDERR_FILENO);
    close(terminal->kept_stderr);
    close(terminal->screen);
}

/* Reads until wanted has been seen; false when it does not come. */
static bool terminal_shows(struct terminal *terminal, const char *wanted)
{
    while (strstr(terminal->text, wanted) == NULL) {
        struct pollfd ready = {.fd = terminal->screen, .events = POLLIN};
        if (poll(&ready, 1, PATIENCE_MS) <= 0 || (ready.revents & POLLIN) == 0)
            return false;
        size_t room = sizeof(terminal->text) - 1 - terminal->length;
        ssize_t count = read(terminal->screen, terminal->text + terminal->length, room);
        if (count <= 0)
            return false;
        terminal->length += (size_t)count;
    }
    return true;
}

static void long_work_is_shown_and_erased_at_its_end(void **state)
{
    (void)state;
    struct terminal terminal;
    struct progress progress;
    setenv("TERM", "xterm", 1);
    terminal_open(&terminal);
    progress_start(&progress, "testing");
    bool shows_seconds = terminal_shows(&terminal, "heapprof: testing: 1 s");
    progress_update(&progress, 5, 20);
    bool shows_part = terminal_shows(&terminal, "heapprof: testing: 25%");
    progress_update(&progress, 30, 20);
    bool shows_whole = terminal_shows(&terminal, "heapprof: testing: 100%");
    terminal.length = 0;
    memset(terminal.text, 0, sizeof(terminal.text));
    progress_end(&progress);
    dprintf(STDERR_FILENO, "next");
    bool shows_next = terminal_shows(&terminal, "\r\033[Knext");
    terminal_close(&terminal);
    assert_true(shows_seconds);
    assert_true(shows_part);
    assert_true(shows_whole);
    assert_true(shows_next);
}

static void short_work_shows_nothing(void **state)
{
    (void)state;
    struct terminal terminal;
    struct progress progress;
    setenv("TERM", "xterm", 1);
    terminal_open(&terminal);
    progress_start(&progress, "testing");
    progress_update(&progress, 1, 2);
    progress_end(&progress);
    dprintf(STDERR_FILENO, "next");
    bool shows_next = terminal_shows(&terminal, "next");
    terminal_close(&terminal);
    assert_true(shows_next);
    assert_string_equal(terminal.text, "next");
}

static void a_terminal_that_cannot_erase_is_left_alone(void **state)
{
    (void)state;
    struct terminal terminal;
    struct progress progress;
    setenv("TERM", "dumb", 1);
    terminal_open(&terminal);
    progress_start(&progress, "testing");
    bool running = progress.running;
    progress_end(&progress);
    terminal_close(&terminal);
    assert_false(running);
}

static void a_pipe_gets_nothing(void **state)
{
    (void)state;
    int ends[2];
    struct progress progress;
    setenv("TERM", "xterm", 1);
    assert_int_equal(pipe(ends), 0);
    int kept = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    progress_start(&progress, "testing");
    bool running = progress.running;
    progress_update(&progress, 1, 2);
    progress_end(&progress);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(ends[1]);
    char byte;
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    assert_false(running);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_work_is_shown_and_erased_at_its_end),
        cmocka_unit_test(short_work_shows_nothing),
        cmocka_unit_test(a_terminal_that_cannot_erase_is_left_alone),
        cmocka_unit_test(a_pipe_gets_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
