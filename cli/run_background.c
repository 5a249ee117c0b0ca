/* run_background.c: the collector goes on for processes that outlive the command.
 *
 * The process that does so is in a session of its own and holds nothing of the caller's: no
 * terminal, no pipe (a reader behind `heapprof run x | cat` gets its end of file), no current
 * folder, no descriptor. What the caller left open to us is all that is not close-on-exec. */
#include "cli/run_session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { UNSEEN_MS = 500 };

static void close_inherited(void)
{
    DIR *descriptors = opendir("/proc/self/fd");
    if (!descriptors)
        return;
    const struct dirent *entry;
    while ((entry = readdir(descriptors))) {
        int fd = atoi(entry->d_name);
        int flags = fd > STDERR_FILENO ? fcntl(fd, F_GETFD) : -1;
        if (flags >= 0 && (flags & FD_CLOEXEC) == 0)
            close(fd);
    }
    closedir(descriptors);
}

static void let_go(void)
{
    setsid();
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd <= STDERR_FILENO && nowhere >= 0; fd++)
        dup2(nowhere, fd);
    close_inherited();
    if (chdir("/") != 0)
        return; /* then a folder cannot be unmounted; nothing else depends on it */
}

/* Serves while there is anybody to serve; true when asked to come to an end before. */
static bool serve_followers(struct session *session)
{
    for (;;) {
        bool known = collector_living(session->collector) > 0;
        if (!known && !collector_has_followers(session->collector))
            return false;
        /* Nobody tells us when a process that has not recorded anything ends. */
        if (session_turn(session, 0, known ? -1 : UNSEEN_MS).hurry)
            return true;
    }
}

static void serve(struct session *session)
{
    if (serve_followers(session))
        collector_cut(session->collector); /* what there is now has to do */
    collector_start_late(session->collector);
    while (collector_is_busy(session->collector))
        if (session_turn(session, 0, -1).hurry)
            collector_hurry(session->collector);
}

bool session_detach(struct session *session)
{
    pid_t pid = fork();
    if (pid != 0) {
        if (pid > 0)
            session->folder.path[0] = '\0'; /* it removes the folder */
        return pid > 0;
    }
    session->folder.owner = getpid();
    session->wait_ms = 0;
    let_go();
    if (collector_take_over(session->collector, NULL))
        serve(session);
    launch_folder_remove(&session->folder);
    _exit(0);
}
