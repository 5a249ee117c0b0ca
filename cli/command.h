/* command.h: the commands of heapprof, one file each, and what they share in failing. */
#ifndef HEAPPROF_CLI_COMMAND_H
#define HEAPPROF_CLI_COMMAND_H

struct command;
struct error;

enum {
    STATUS_OK = 0,
    STATUS_FAILED = 1, /* our own failure: one line on stderr */
    STATUS_USAGE = 2,  /* wrong option, command or operand */
    STATUS_LEAKS = 3   /* more in use than --fail-above allows */
};

extern const struct command run_command;
extern const struct command top_command;
extern const struct command flame_command;
extern const struct command fold_command;
extern const struct command leaks_command;
extern const struct command info_command;

/* Prints "heapprof: TEXT" on stderr and returns status. */
int command_fail(int status, const struct error *error);

/* Runs what the command line asks for: argv[1] names a command, or is "help", --help or --version.
 * Returns the exit status. Nothing that was printed on stdout is lost silently: when it cannot be
 * written (closed, disk full), that is a failure like any other. */
int command_main(int argc, char **argv);

#endif
