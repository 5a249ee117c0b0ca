/* group_witness.c: a process that does nothing but have signals pending. */
#include "cli/group_witness.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void __attribute__((noreturn)) witness(pid_t parent)
{
    close_range(0, ~0u, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0); /* it has gone meanwhile */
    for (;;)
        pause();
}

pid_t group_witness_start(void)
{
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0)
        witness(parent);
    return pid;
}

/* The signals pending for a whole process (ShdPnd in proc_pid_status(5)), bit N - 1 for signal N;
 * 0 when the process cannot be read. */
static uint64_t pending_signals(pid_t pid)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *status = fopen(path, "re");
    if (status == NULL)
        return 0;
    char line[256];
    unsigned long pending = 0;
    while (fgets(line, sizeof(line), status) != NULL)
        if (sscanf(line, "ShdPnd: %lx", &pending) == 1)
            break;
    fclose(status);
    return pending;
}

bool group_witness_saw(pid_t *witness, int number)
{
    if (*witness <= 0)
        return false;
    /* The sender may still be going through the group, or, as timeout(1) does, have sent it to the
     * launcher first. */
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    if ((pending_signals(*witness) >> (number - 1) & 1) == 0)
        return false;
    group_witness_stop(*witness);
    *witness = group_witness_start();
    return true;
}

void group_witness_stop(pid_t witness)
{
    if (witness <= 0)
        return;
    kill(witness, SIGKILL);
    waitpid(witness, NULL, 0);
}
