/* collector_proc.c: what /proc tells about a process. Source: proc(5), pid_namespaces(7). */
#include "cli/collector_proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/arena.h"

enum { COMMAND_LINE_BYTES = 1000, MAX_NEW_PIDS = 4096, EXEC_ATTEMPTS = 5 };

int proc_pidfd(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0); /* close-on-exec by itself */
}

bool proc_has_ended(int pidfd)
{
    struct pollfd poll_fd = {.fd = pidfd, .events = POLLIN};
    return poll(&poll_fd, 1, 0) == 1;
}

/* Opens /proc/PID/NAME; -1 with errno. */
static int open_entry(pid_t pid, const char *name, int flags)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    return open(path, flags | O_CLOEXEC);
}

/* Up to size - 1 bytes of /proc/PID/NAME and a NUL; the length, -1 when it cannot be read. */
static ssize_t read_entry(pid_t pid, const char *name, char *text, size_t size)
{
    int fd = open_entry(pid, name, O_RDONLY);
    if (fd < 0)
        return -1;
    size_t length = 0;
    while (length < size - 1) {
        ssize_t got = read(fd, text + length, size - 1 - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    close(fd);
    text[length] = '\0';
    return (ssize_t)length;
}

static void strip_deleted(char *path)
{
    static const char deleted[] = " (deleted)";
    size_t length = strlen(path), cut = sizeof(deleted) - 1;
    if (length > cut && strcmp(path + length - cut, deleted) == 0)
        path[length - cut] = '\0';
}

/* The number behind "\nNAME:" in /proc/PID/status, the last one when there are several (NSpid has
 * one for each namespace); -1 when it is not there. */
static long status_number(const char *status, const char *name)
{
    const char *line = strstr(status, name);
    if (!line)
        return -1;
    const char *last = line + 1 + strcspn(line + 1, "\n");
    while (last > line && last[-1] != '\t' && last[-1] != ' ')
        last--;
    return strtol(last, NULL, 10);
}

char *proc_executable(pid_t pid)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(link, path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    strip_deleted(path);
    return heap_text(path);
}

/* Adds argument to line as a shell would take it; false when there is no more room. */
static bool add_quoted(char *line, size_t *length, const char *argument)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "%+,-./:=@_^";
    size_t at = *length, limit = COMMAND_LINE_BYTES - 8;
    bool quote = argument[0] == '\0' || argument[strspn(argument, plain)] != '\0';
    if (at > 0)
        line[at++] = ' ';
    if (quote)
        line[at++] = '\'';
    for (; *argument != '\0' && at < limit; argument++) {
        unsigned char byte = (unsigned char)*argument;
        if (byte == '\'') {
            memcpy(line + at, "'\\''", 4);
            at += 4;
        } else {
            line[at++] = byte < ' ' || byte == 127 ? '?' : (char)byte;
        }
    }
    bool whole = *argument == '\0';
    if (!whole) {
        memcpy(line + at, "...", 3);
        at += 3;
    } else if (quote) {
        line[at++] = '\'';
    }
    line[at] = '\0';
    *length = at;
    return whole && at < limit - 4;
}

char *proc_quote(char *const *arguments)
{
    char line[COMMAND_LINE_BYTES + 16] = "";
    size_t length = 0;
    for (; *arguments && add_quoted(line, &length, *arguments); arguments++)
        continue;
    return heap_text(line);
}

char *proc_command_line(pid_t pid)
{
    char text[4096];
    ssize_t size = read_entry(pid, "cmdline", text, sizeof(text));
    char line[COMMAND_LINE_BYTES + 16] = "";
    size_t length = 0;
    for (ssize_t at = 0; at < size; at += (ssize_t)strlen(text + at) + 1)
        if (!add_quoted(line, &length, text + at))
            break;
    return heap_text(line);
}

/* Turns an O_PATH descriptor (closed here) into one for reading, when it is a regular file. */
static int reopen_regular(int path_fd)
{
    if (path_fd < 0)
        return -1;
    struct stat st;
    int fd = -1;
    if (fstat(path_fd, &st) == 0 && S_ISREG(st.st_mode)) {
        char path[64];
        snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    }
    close(path_fd);
    return fd;
}

int proc_open_file(pid_t pid, const char *path)
{
    if (path[0] == '\0')
        return reopen_regular(open_entry(pid, "exe", O_PATH));
    if (path[0] != '/')
        return -1;
    char full[PATH_MAX + 32];
    int length = snprintf(full, sizeof(full), "/proc/%d/root%s", (int)pid, path);
    if (length < 0 || (size_t)length >= sizeof(full))
        return -1;
    int fd = reopen_regular(open(full, O_PATH | O_CLOEXEC));
    return fd >= 0 ? fd : reopen_regular(open(path, O_PATH | O_CLOEXEC));
}

/* Calls found for each line of /proc/PID/maps until it returns true; false when none did. *readable
 * tells whether there was anything to read. */
static bool search_maps(pid_t pid, bool (*found)(void *context, char *line), void *context,
                        bool *readable)
{
    int fd = open_entry(pid, "maps", O_RDONLY);
    FILE *stream = fd >= 0 ? fdopen(fd, "r") : NULL;
    *readable = false;
    if (!stream) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    char *line = NULL;
    size_t size = 0;
    bool hit = false;
    *readable = true;
    while (!hit && getline(&line, &size, stream) > 0) {
        line[strcspn(line, "\n")] = '\0';
        hit = found(context, line);
    }
    free(line);
    fclose(stream);
    return hit;
}

struct address_search {
    uint64_t address;
    char *path;
};

static bool covers_address(void *context, char *line)
{
    struct address_search *search = context;
    unsigned long long start, limit;
    int name = 0;
    if (sscanf(line, "%llx-%llx %*s %*s %*s %*s %n", &start, &limit, &name) < 2 || name == 0 ||
        search->address < start || search->address >= limit)
        return false;
    strip_deleted(line + name);
    search->path = heap_text(line + name);
    return true;
}

char *proc_mapped_file(pid_t pid, uint64_t address)
{
    struct address_search search = {.address = address};
    bool readable;
    if (search_maps(pid, covers_address, &search, &readable))
        return search.path;
    return heap_text("");
}

static bool maps_inode(void *context, char *line)
{
    unsigned long long inode;
    const ino_t *wanted = context;
    return sscanf(line, "%*s %*s %*s %*s %llu", &inode) == 1 && inode == *wanted &&
           strstr(line, "/memfd:") != NULL;
}

/* Whether pid is, in its own pid namespace, own_pid; *parent becomes its parent. */
static bool knows_itself_as(pid_t pid, pid_t own_pid, pid_t *parent)
{
    char status[4096];
    if (read_entry(pid, "status", status, sizeof(status)) < 0)
        return false;
    *parent = (pid_t)status_number(status, "\nPPid:");
    long own = status_number(status, "\nNSpid:");
    return own < 0 ? pid == own_pid : own == own_pid; /* < 0: no pid namespaces here */
}

/* Whether pid maps the file: 1 yes, 0 no, -1 when that cannot be seen, because it has dropped
 * privileges or is a zombie. */
static int maps_file(pid_t pid, ino_t inode)
{
    bool readable;
    if (search_maps(pid, maps_inode, &inode, &readable))
        return 1;
    return readable && proc_state(pid) != 'Z' ? 0 : -1;
}

static pid_t numeric_name(const struct dirent *entry)
{
    char *end;
    long pid = strtol(entry->d_name, &end, 10);
    return *end == '\0' && pid > 0 && pid <= INT_MAX ? (pid_t)pid : 0;
}

/* The pid given out last in this namespace; 0 when not known. Source: proc(5), loadavg. */
static pid_t last_pid(void)
{
    char text[128];
    int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t got = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    const char *space = strrchr(text, ' ');
    return space ? (pid_t)strtol(space + 1, NULL, 10) : 0;
}

/* False for a thread's number, under which /proc shows its process too. */
static bool is_process(pid_t pid)
{
    char status[4096];
    return read_entry(pid, "status", status, sizeof(status)) > 0 &&
           status_number(status, "\nTgid:") == pid;
}

static bool has_environment(pid_t pid, const char *assignment)
{
    static char text[128 << 10];
    ssize_t size = read_entry(pid, "environ", text, sizeof(text));
    size_t length = strlen(assignment);
    for (ssize_t at = 0; at < size;) {
        size_t entry = strlen(text + at);
        if (entry == length && memcmp(text + at, assignment, length) == 0)
            return is_process(pid);
        at += (ssize_t)entry + 1;
    }
    return false;
}

/* Whether the process that bears the child's number here is the child. */
static bool is_child(const struct proc_child *child, ino_t inode)
{
    pid_t parent;
    if (!knows_itself_as(child->own_pid, child->own_pid, &parent))
        return false;
    if (parent == child->parent && parent > 0)
        return true;
    /* In the middle of an exec it has neither the mapping nor an environment. */
    for (int attempt = 0; attempt < EXEC_ATTEMPTS; attempt++) {
        if (maps_file(child->own_pid, inode) == 1 ||
            has_environment(child->own_pid, child->assignment))
            return true;
        poll(NULL, 0, 1);
    }
    return false;
}

pid_t proc_find(const struct proc_child *child)
{
    struct stat st;
    if (child->own_pid <= 0 || fstat(child->store, &st) != 0)
        return -1;
    if (access("/proc/self/status", F_OK) != 0)
        return child->own_pid; /* no /proc here: the best guess */
    if (is_child(child, st.st_ino))
        return child->own_pid;
    DIR *processes = opendir("/proc");
    if (!processes)
        return -1;
    pid_t found = -1, parent;
    const struct dirent *entry;
    while (found < 0 && (entry = readdir(processes))) {
        pid_t pid = numeric_name(entry);
        if (pid != 0 && knows_itself_as(pid, child->own_pid, &parent) &&
            maps_file(pid, st.st_ino) == 1)
            found = pid;
    }
    closedir(processes);
    /* What cannot be looked into may be it, but not the init of this namespace. */
    if (found < 0 && child->own_pid > 1 && maps_file(child->own_pid, st.st_ino) < 0 &&
        knows_itself_as(child->own_pid, child->own_pid, &parent))
        found = child->own_pid;
    return found;
}

pid_t proc_find_environment(pid_t since, const char *assignment,
                            bool (*skip)(const void *context, pid_t pid), const void *context)
{
    pid_t last = last_pid();
    if (last >= since && last - since < MAX_NEW_PIDS) {
        for (pid_t pid = since + 1; pid <= last; pid++)
            if (pid != getpid() && !skip(context, pid) && has_environment(pid, assignment))
                return pid;
        return 0;
    }
    /* The numbers have wrapped around, or very many processes have come since. */
    DIR *processes = opendir("/proc");
    if (!processes)
        return 0;
    pid_t found = 0;
    const struct dirent *entry;
    while (found == 0 && (entry = readdir(processes))) {
        pid_t pid = numeric_name(entry);
        if (pid != 0 && pid != getpid() && !skip(context, pid) && has_environment(pid, assignment))
            found = pid;
    }
    closedir(processes);
    return found;
}

char proc_state(pid_t pid)
{
    char stat[512];
    if (read_entry(pid, "stat", stat, sizeof(stat)) < 0)
        return 0;
    const char *end = strrchr(stat, ')'); /* the name before it may hold anything */
    return end && end[1] == ' ' ? end[2] : '\0';
}
