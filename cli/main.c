/* main.c: where heapprof begins.
 *
 * All that happens here is making sure that descriptors 0, 1 and 2 exist: a file opened later must
 * not land on one of them and receive what is meant for a terminal. */
#include "cli/command.h"

#include <fcntl.h>
#include <unistd.h>

/* Fills closed standard descriptors with /dev/null, opened the wrong way round: using one still
 * fails as if it were closed. Close-on-exec, so that a command which `run` starts finds them closed
 * as its caller left them. */
static void fill_standard_descriptors(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int descriptor = 0; descriptor <= STDERR_FILENO; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0 &&
            open("/dev/null", modes[descriptor] | O_CLOEXEC) != descriptor)
            _exit(STATUS_FAILED);
}

int main(int argc, char **argv)
{
    fill_standard_descriptors();
    return command_main(argc, argv);
}
