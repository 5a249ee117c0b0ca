/* run_wait.c: the launcher's part of a run while somebody waits for it. */
#include "cli/run_session.h"

#include <errno.h>
#include <poll.h>
#include <sys/wait.h>
#include <time.h>

#include "cli/progress.h"

enum {
    GRACE_MS = 50, /* children that end together with the command, a moment later */
    SHOW_MS = 100  /* between looks at how far the names are */
};

struct launch_news session_turn(struct session *session, pid_t command, int most_ms)
{
    /* Sleeping comes before working: the caller looks at what the work has changed. */
    int left = session->wait_ms;
    if (left < 0 || (most_ms >= 0 && most_ms < left))
        left = most_ms;
    struct pollfd fds[] = {
        {.fd = session->signals.fd, .events = POLLIN},
        {.fd = collector_fd(session->collector), .events = POLLIN},
    };
    poll(fds, 2, left);
    session->wait_ms = collector_turn(session->collector);
    return launch_signals_read(&session->signals, command);
}

/* Looks at the command: true when it has ended. */
static bool has_ended(struct session *session)
{
    for (;;) {
        pid_t got = waitpid(session->command, &session->status, WNOHANG | WUNTRACED);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0; /* somebody else's child: cannot be */
        if (!WIFSTOPPED(session->status))
            return true;
        launch_signals_stop(session->command, WSTOPSIG(session->status));
    }
}

void session_wait(struct session *session)
{
    bool ended = has_ended(session); /* it may have ended before its first turn */
    while (!ended)
        ended = session_turn(session, session->command, -1).child && has_ended(session);
    session->end_ns = collector_now_ns();
    launch_signals_rest(&session->signals);
}

/* Makes files until none is left. */
static void make_files(struct session *session)
{
    struct progress progress;
    if (!collector_is_busy(session->collector))
        return;
    progress_start(&progress, "looking up names");
    while (collector_is_busy(session->collector)) {
        uint64_t done, total;
        collector_progress(session->collector, &done, &total);
        progress_update(&progress, done, total);
        if (session_turn(session, 0, SHOW_MS).hurry)
            collector_hurry(session->collector);
    }
    progress_end(&progress);
}

/* Gives children that are about to end the time to do so. */
static void wait_for_stragglers(struct session *session)
{
    uint64_t until = session->end_ns + GRACE_MS * 1000000ull;
    for (uint64_t now = collector_now_ns(); now < until && collector_living(session->collector) > 0;
         now = collector_now_ns())
        if (session_turn(session, 0, (int)((until - now) / 1000000) + 1).hurry)
            break;
}

bool session_finish(struct session *session)
{
    collector_command_ended(session->collector);
    wait_for_stragglers(session);
    collector_leave_rest(session->collector);
    make_files(session);
    if (collector_has_followers(session->collector))
        return true;
    collector_start_late(session->collector);
    make_files(session);
    return false;
}
