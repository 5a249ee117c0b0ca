/* loader.c: what the dynamic loader would load, asked of the loader itself.
 *
 * `LD_TRACE_LOADED_OBJECTS=1 ld.so FILE`, which is what ldd does, prints a line for each library:
 * "NAME => PATH (0xADDRESS)", or "NAME => not found"; versions that a library lacks are told in
 * lines that end in "not found (required by FILE)". (--list would stop at the first that is
 * missing.) --preload takes a library as LD_PRELOAD does, which must not be the user's here.
 * Source: glibc elf/rtld.c, elf/dl-version.c; ld.so(8). */
#include "cli/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/arena.h"

/* By the x86-64 ABI supplement, 5.2.1. */
#define LOADER "/lib64/ld-linux-x86-64.so.2"

enum { MOST_BYTES = 1 << 20 };

extern char **environ;

static bool is_assignment(const char *entry, const char *name)
{
    size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

/* environ, but that the loader is to list; the caller frees the array. */
static char **listing_environment(void)
{
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **environment = heap_alloc((count + 2) * sizeof(*environment));
    for (size_t i = 0; i < count; i++)
        if (!is_assignment(environ[i], "LD_PRELOAD") && !is_assignment(environ[i], "LD_DEBUG") &&
            !is_assignment(environ[i], "LD_TRACE_LOADED_OBJECTS"))
            environment[kept++] = environ[i];
    environment[kept++] = (char *)(uintptr_t) "LD_TRACE_LOADED_OBJECTS=1";
    environment[kept] = NULL;
    return environment;
}

static char *read_all(int fd)
{
    char *text = NULL;
    size_t length = 0, capacity = 0;
    for (;;) {
        text = heap_grow(text, &capacity, length + 4096, 1);
        ssize_t got = read(fd, text + length, capacity - length - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || length > MOST_BYTES)
            break;
        length += (size_t)got;
    }
    text[length] = '\0';
    return text;
}

/* Starts the loader with both its streams going to fd; -1 when that cannot be. */
static pid_t start(char *const *arguments, int fd)
{
    posix_spawn_file_actions_t actions;
    char **environment = listing_environment();
    pid_t pid = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fd, STDERR_FILENO);
    if (posix_spawn(&pid, LOADER, &actions, NULL, arguments, environment) != 0)
        pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return pid;
}

/* What the loader prints, for the caller to free; NULL when it cannot be run. */
static char *list(char *const *arguments)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    pid_t pid = start(arguments, ends[1]);
    close(ends[1]);
    char *text = pid > 0 ? read_all(ends[0]) : NULL;
    close(ends[0]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return text;
}

/* Takes the path out of a line "\tNAME => PATH (0xADDRESS)"; LD_LIBRARY_PATH may make it a relative
 * one. */
static bool path_in_line(char *line, const char *name, char path[PATH_MAX])
{
    size_t length = strlen(name);
    line += strspn(line, " \t");
    if (strncmp(line, name, length) != 0 || strncmp(line + length, " => ", 4) != 0)
        return false;
    line += length + 4;
    char *end = strstr(line, " (0x");
    if (!end)
        return false;
    *end = '\0';
    return realpath(line, path) != NULL;
}

bool loader_find(const char *name, char path[PATH_MAX])
{
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
    if (length <= 0)
        return false;
    own[length] = '\0';
    char *text = list((char *[]){LOADER, "--preload", (char *)(uintptr_t)name, own, NULL});
    bool found = false;
    char *rest = text, *line;
    while (text && !found && (line = strsep(&rest, "\n")))
        found = path_in_line(line, name, path);
    free(text);
    return found;
}

/* Whether the line tells of something that is missing; then it becomes the reason. */
static bool is_complaint(const char *line, char *reason, size_t size)
{
    static const char missing[] = " => not found", required[] = "not found (required by ";
    const char *at;
    if ((at = strstr(line, missing))) {
        line += strspn(line, " \t");
        snprintf(reason, size, "needs %.*s, which is not there", (int)(at - line), line);
        return true;
    }
    if (strstr(line, required)) {
        at = strstr(line, ": version ");
        snprintf(reason, size, "needs another system: %s", at ? at + 2 : line);
        return true;
    }
    return false;
}

bool loader_accepts(const char *path, char *reason, size_t size)
{
    char *text = list((char *[]){LOADER, (char *)(uintptr_t)path, NULL});
    bool accepted = true;
    char *rest = text, *line;
    while (text && accepted && (line = strsep(&rest, "\n")))
        accepted = !is_complaint(line, reason, size);
    free(text);
    return accepted;
}
