/* launch.c: what the command needs to find us, and its start.
 *
 * The folder goes to $XDG_RUNTIME_DIR, else to $TMPDIR, else to /tmp: the first one that can be
 * used. ld.so splits LD_PRELOAD at spaces and colons and expands $ORIGIN and its like (ld.so(8)),
 * sun_path has 108 bytes (unix(7)); a path that these rules forbid is passed over. */
#include "cli/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/launch_signals.h"
#include "proto/error.h"
#include "proto/messages.h"

#define RUNTIME_NAME "libheapprof.so"
#define MIMALLOC_NAME "libheapprof-mimalloc.so"

/* What ld.so takes for the end of a path in LD_PRELOAD, or for a variable in it. */
#define LOADER_SPECIAL " :$\t\n"

static bool is_usable_base(const char *base, size_t room)
{
    struct stat st;
    return base && base[0] == '/' && strlen(base) < room && strpbrk(base, LOADER_SPECIAL) == NULL &&
           stat(base, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool make_folder(struct launch_folder *folder)
{
    static const char name[] = "/heapprof-XXXXXX";
    const char *bases[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};
    errno = ENOENT;
    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
        if (!is_usable_base(bases[i], sizeof(folder->path) - sizeof(name)))
            continue;
        snprintf(folder->path, sizeof(folder->path), "%s%s", bases[i], name);
        if (mkdtemp(folder->path))
            return true;
    }
    folder->path[0] = '\0';
    return false;
}

static bool listen_at(struct launch_folder *folder)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, folder->socket, strlen(folder->socket) + 1);
    folder->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return folder->listener >= 0 &&
           bind(folder->listener, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
           listen(folder->listener, SOMAXCONN) == 0;
}

bool launch_folder_make(struct launch_folder *folder, struct error *error)
{
    *folder = (struct launch_folder){.listener = -1, .owner = getpid()};
    char runtime[PATH_MAX];
    if (!launch_find_runtime(runtime, error))
        return false;
    if (!make_folder(folder)) {
        error_set_errno(error, NULL, errno, "cannot make a folder for the run in /tmp");
        return false;
    }
    snprintf(folder->socket, sizeof(folder->socket), "%s/socket", folder->path);
    snprintf(folder->assignment, sizeof(folder->assignment), "%s=%s", HEAPPROF_ENV_SOCKET,
             folder->socket);
    snprintf(folder->preload, sizeof(folder->preload), "%s/%s", folder->path, RUNTIME_NAME);
    if (symlink(runtime, folder->preload) == 0 && listen_at(folder))
        return true;
    error_set_errno(error, folder->path, errno, "cannot be set up for the run");
    launch_folder_remove(folder);
    return false;
}

/* The link is to the library's folder where that is enough: what lies beside the library and is
 * looked for there ($ORIGIN) is then found through the link too. */
bool launch_folder_add_allocator(struct launch_folder *folder, const char *library,
                                 struct error *error)
{
    if (!strpbrk(library, LOADER_SPECIAL)) {
        snprintf(folder->allocator, sizeof(folder->allocator), "%s", library);
        return true;
    }
    const char *name = strrchr(library, '/') + 1;
    bool is_plain = strpbrk(name, LOADER_SPECIAL) == NULL;
    char target[PATH_MAX];
    snprintf(target, sizeof(target), "%s", library);
    if (is_plain)
        target[name - library] = '\0';
    snprintf(folder->allocator_link, sizeof(folder->allocator_link), "%s/%s", folder->path,
             is_plain ? "allocator" : "allocator.so");
    int size = snprintf(folder->allocator, sizeof(folder->allocator), "%s%s%s",
                        folder->allocator_link, is_plain ? "/" : "", is_plain ? name : "");
    if (symlink(target, folder->allocator_link) == 0 && (size_t)size < sizeof(folder->allocator))
        return true;
    error_set_errno(error, library, errno, "cannot be linked to from %s", folder->path);
    return false;
}

void launch_folder_remove(struct launch_folder *folder)
{
    if (folder->listener >= 0)
        close(folder->listener);
    folder->listener = -1;
    if (folder->path[0] == '\0' || folder->owner != getpid())
        return;
    unlink(folder->socket);
    unlink(folder->preload);
    if (folder->allocator_link[0] != '\0')
        unlink(folder->allocator_link);
    rmdir(folder->path);
    folder->path[0] = '\0';
}

bool launch_find_runtime(char path[PATH_MAX], struct error *error)
{
    static const char *const places[] = {
        "",                 /* a build folder */
        "../lib/heapprof/", /* PREFIX/bin and PREFIX/lib/heapprof */
#ifdef HEAPPROF_LIBDIR
        HEAPPROF_LIBDIR "/",
#endif
    };
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
    own[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(own, '/');
    if (slash)
        slash[1] = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        int size = snprintf(path, PATH_MAX, "%s%s%s", places[i][0] == '/' ? "" : own, places[i],
                            RUNTIME_NAME);
        if (size > 0 && size < PATH_MAX && path[0] == '/' && access(path, R_OK) == 0)
            return true;
    }
    error_set(error, own, "there is no " RUNTIME_NAME " here, nor in ../lib/heapprof");
    return false;
}

bool launch_has_mimalloc(struct error *error)
{
    char path[PATH_MAX], real[PATH_MAX];
    if (!launch_find_runtime(path, error))
        return false;
    /* Where the runtime will look: beside the file itself, whatever links lead to it. */
    const char *slash = realpath(path, real) ? strrchr(real, '/') : NULL;
    int folder = slash ? (int)(slash - real) + 1 : 0;
    int size = snprintf(path, sizeof(path), "%.*s%s", folder, real, MIMALLOC_NAME);
    if (folder > 0 && (size_t)size < sizeof(path) && access(path, R_OK) == 0)
        return true;
    error_set(error, "--allocator=mimalloc", "there is no %s that can be read", path);
    return false;
}

void launch_guard_stdio(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

/* Our library first, then the allocator: the user's own entries follow them. */
static bool set_preload(const struct launch_folder *folder)
{
    const char *present = getenv("LD_PRELOAD");
    bool has_allocator = folder->allocator[0] != '\0';
    if (!present)
        present = "";
    char *all;
    if (asprintf(&all, "%s%s%s%s%s", folder->preload, has_allocator ? ":" : "", folder->allocator,
                 present[0] != '\0' ? ":" : "", present) < 0)
        return false;
    bool ok = setenv("LD_PRELOAD", all, 1) == 0;
    free(all);
    return ok;
}

static bool set_environment(const struct launch_folder *folder)
{
    if (!set_preload(folder) || setenv(HEAPPROF_ENV_SOCKET, folder->socket, 1) != 0)
        return false;
    return folder->allocator[0] != '\0' ? setenv(HEAPPROF_ENV_ALLOCATOR, folder->allocator, 1) == 0
                                        : unsetenv(HEAPPROF_ENV_ALLOCATOR) == 0;
}

/* In the child: does not return. Tells errno through report, which goes with a successful exec. */
static void __attribute__((noreturn)) become(const struct launch_command *command, int report)
{
    if (!command->preload || set_environment(command->folder)) {
        launch_signals_restore(command->signals);
        execvp(command->arguments[0], command->arguments);
    }
    int failure = errno;
    while (write(report, &failure, sizeof(failure)) < 0 && errno == EINTR)
        continue;
    _exit(127);
}

static bool read_report(int fd, int *failure)
{
    ssize_t got;
    do
        got = read(fd, failure, sizeof(*failure));
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof(*failure);
}

pid_t launch_start(const struct launch_command *command, bool *exec_failed, int *exec_errno)
{
    int ends[2];
    *exec_failed = false;
    *exec_errno = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        *exec_errno = errno;
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0)
        become(command, ends[1]);
    int fork_errno = errno;
    close(ends[1]);
    *exec_failed = pid > 0 && read_report(ends[0], exec_errno);
    close(ends[0]);
    if (pid < 0)
        *exec_errno = fork_errno;
    if (!*exec_failed)
        return pid;
    waitpid(pid, NULL, 0);
    return -1;
}
