/* launch_signals.c: signals while the command runs: as if it ran alone.
 *
 * Who has sent a signal says si_code: the terminal's come from the kernel (SI_KERNEL) and reach
 * the whole process group, kill()'s are meant for the launcher, which stands for the command, or
 * for the group as well: then a witness has seen them.
 * Source: signalfd(2), sigaction(2), tty_ioctl; what shells do: bash jobs.c, give_terminal_to. */
#include "cli/launch_signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/collector_proc.h"
#include "cli/group_witness.h"
#include "proto/error.h"

/* Signals of faults of our own: blocking them would only make a crash harder to understand. */
static const int own_faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};

static const int interrupts[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/* sigaction() refuses glibc's own signals, the kernel does not. Layout: struct kernel_sigaction of
 * x86-64, whose signal set has 8 bytes. */
enum { INTERNAL_FIRST = 32, INTERNAL_COUNT = 2, KERNEL_SIGSET_BYTES = 8 };

struct kernel_action {
    void *handler;
    unsigned long flags;
    void *restorer;
    unsigned long mask;
};

static bool is_internal_ignored(int number)
{
    struct kernel_action action;
    return syscall(SYS_rt_sigaction, number, NULL, &action, KERNEL_SIGSET_BYTES) == 0 &&
           action.handler == (void *)SIG_IGN;
}

bool launch_signals_open(struct launch_signals *signals, struct error *error)
{
    struct sigaction action;
    signals->ignored_sigchld =
        sigaction(SIGCHLD, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
    if (signals->ignored_sigchld)
        signal(SIGCHLD, SIG_DFL);
    for (int i = 0; i < INTERNAL_COUNT; i++)
        signals->ignored_internal[i] = is_internal_ignored(INTERNAL_FIRST + i);
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof(own_faults) / sizeof(own_faults[0]); i++)
        sigdelset(&all, own_faults[i]);
    sigprocmask(SIG_BLOCK, &all, &signals->original);
    signals->fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals->fd < 0)
        error_set_errno(error, NULL, errno, "cannot make a signalfd");
    signals->witness = signals->fd < 0 ? -1 : group_witness_start();
    return signals->fd >= 0;
}

void launch_signals_restore(const struct launch_signals *signals)
{
    struct kernel_action ignore = {.handler = (void *)SIG_IGN};
    for (int i = 0; i < INTERNAL_COUNT; i++)
        if (signals->ignored_internal[i])
            syscall(SYS_rt_sigaction, INTERNAL_FIRST + i, &ignore, NULL, KERNEL_SIGSET_BYTES);
    if (signals->ignored_sigchld)
        signal(SIGCHLD, SIG_IGN);
    sigprocmask(SIG_SETMASK, &signals->original, NULL);
}

static bool is_interrupt(int number)
{
    for (size_t i = 0; i < sizeof(interrupts) / sizeof(interrupts[0]); i++)
        if (interrupts[i] == number)
            return true;
    return false;
}

/* Takes a pending signal of ours away: the command has got it in another way. True when there was
 * one. */
static bool take_pending(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    bool any = false;
    while (sigtimedwait(&set, NULL, &(struct timespec){0}) > 0)
        any = true;
    return any;
}

/* Whether a signal to us is meant for the command and has not reached it by itself. */
static bool is_for_command(struct launch_signals *signals, const struct signalfd_siginfo *info)
{
    int number = (int)info->ssi_signo;
    if (number == SIGCHLD || number == SIGPIPE || number == SIGXFSZ || number == SIGXCPU)
        return false; /* about what we do ourselves */
    if (info->ssi_code == SI_KERNEL)
        return false;
    if (!group_witness_saw(&signals->witness, number))
        return true;
    take_pending(number); /* sent to us and to the group: this is the other one */
    return false;
}

struct launch_news launch_signals_read(struct launch_signals *signals, pid_t command)
{
    struct launch_news news = {0};
    struct signalfd_siginfo info;
    while (read(signals->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        int number = (int)info.ssi_signo;
        if (number == SIGCHLD)
            news.child = true;
        else if (command == 0 && is_interrupt(number))
            news.hurry = true;
        else if (command > 0 && is_for_command(signals, &info))
            kill(command, number);
    }
    return news;
}

void launch_signals_rest(struct launch_signals *signals)
{
    group_witness_stop(signals->witness);
    signals->witness = -1;
}

/* Does to us what the signal does by default. */
static void suffer(int number)
{
    signal(number, SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, NULL); /* here it takes effect */
    sigprocmask(SIG_BLOCK, &one, NULL);
}

/* Without a controlling terminal there is no job control: nobody would continue us, only the
 * command. */
static bool has_terminal(void)
{
    int fd = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

void launch_signals_stop(pid_t command, int number)
{
    if (!has_terminal())
        return;
    /* SIGTSTP does nothing in an orphaned process group, where no shell would wake us. */
    if (number == SIGSTOP)
        number = SIGTSTP;
    struct sigaction before;
    sigaction(number, NULL, &before);
    suffer(number);
    sigaction(number, &before, NULL);
    if (take_pending(SIGCONT) && /* it was for us, and the shell sends it to the command as well */
        proc_state(command) == 'T')
        kill(command, SIGCONT); /* only we were woken */
}

int launch_signals_end_as(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    int number = WTERMSIG(status);
    prctl(PR_SET_DUMPABLE, 0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    suffer(number);
    return 128 + number; /* a signal that does not end a process */
}
