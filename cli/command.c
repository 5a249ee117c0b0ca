/* command.c: which command runs, and what is said when none does.
 *
 * The commands are a table; `heapprof --help`, dispatch and "did you mean" all read it. Standard
 * output is checked once, here, after the command: then no command can forget to. */
#include "cli/command.h"

#include "cli/option.h"
#include "cli/spelling.h"
#include "proto/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command *const commands[] = {
    &run_command, &top_command, &flame_command, &fold_command, &leaks_command, &info_command,
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

int command_fail(int status, const struct error *error)
{
    fprintf(stderr, "heapprof: %s\n", error->text);
    return status;
}

static void print_usage(FILE *stream)
{
    fputs("usage: heapprof COMMAND [options] ...\n"
          "\n"
          "Shows what holds the memory of a program, and who allocates it.\n"
          "\n"
          "commands:\n",
          stream);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(stream, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
    fputs("  help     describe a command: heapprof help COMMAND\n"
          "\n"
          "options:\n"
          "  -h, --help     print this help\n"
          "      --version  print the version\n",
          stream);
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static int refuse_command(const char *name)
{
    struct error error;
    struct spelling spelling;
    spelling_init(&spelling, name);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        spelling_offer(&spelling, commands[i]->name);
    spelling_offer(&spelling, "help");
    if (spelling.best != NULL)
        error_set(&error, NULL, "unknown command '%s', did you mean '%s'?", name, spelling.best);
    else
        error_set(&error, NULL, "unknown command '%s', try 'heapprof --help'", name);
    return command_fail(STATUS_USAGE, &error);
}

static int refuse_option(const char *text)
{
    struct error error;
    error_set(&error, NULL, "unknown option %s, try 'heapprof --help'", text);
    return command_fail(STATUS_USAGE, &error);
}

/* `heapprof help [COMMAND]`; argv[0] is "help". */
static int help_main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "help") == 0) {
        print_usage(stdout);
        return STATUS_OK;
    }
    const struct command *command = find_command(argv[1]);
    if (command == NULL)
        return refuse_command(argv[1]);
    option_print_help(command);
    return STATUS_OK;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return STATUS_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_usage(stdout);
        return STATUS_OK;
    }
    if (strcmp(name, "--version") == 0) {
        option_print_version();
        return STATUS_OK;
    }
    if (strcmp(name, "help") == 0)
        return help_main(argc - 1, argv + 1);
    if (name[0] == '-')
        return refuse_option(name);
    const struct command *command = find_command(name);
    return command != NULL ? command->run(command, argc - 1, argv + 1) : refuse_command(name);
}

int command_main(int argc, char **argv)
{
    struct error error;
    int status = dispatch(argc, argv);
    /* An earlier write may have failed with an errno that is long gone; flushing finds it anew in
     * all cases that matter. */
    errno = 0;
    bool had_error = ferror(stdout) != 0;
    bool flushed = fflush(stdout) == 0;
    if ((flushed && !had_error) || status != STATUS_OK)
        return status;
    if (errno != 0)
        error_set_errno(&error, "standard output", errno, "cannot write");
    else
        error_set(&error, "standard output", "cannot write all of it");
    return command_fail(STATUS_FAILED, &error);
}
