/* option.h: one declared table per command: parsing, --help and whatever else lists options.
 *
 *     static const struct option_row run_rows[] = {
 *         {'o', "output", "FILE", OPTION_TEXT, TO(output), "write the profile to FILE"},
 *         {0, "no-follow", NULL, OPTION_FLAG, TO(no_follow), "do not profile child processes"},
 *         {0},
 *     };
 *
 * TO(field) is offsetof(struct run_options, field). -h/--help and --version are
 * understood for every command. */
#ifndef HEAPPROF_CLI_OPTION_H
#define HEAPPROF_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

enum option_kind {
    OPTION_FLAG,     /* bool, set to true */
    OPTION_TEXT,     /* const char *, points into argv */
    OPTION_SIZE,     /* uint64_t bytes: digits with an optional K, M, G (1024) suffix */
    OPTION_DURATION, /* uint64_t nanoseconds: a number with ns, us, ms, s, m or h behind it */
    OPTION_NUMBER,   /* uint64_t */
    OPTION_FRACTION, /* double, 0 to 1 */
    OPTION_CHOICE    /* const char *, one of the row's choices */
};

struct option_row {
    char letter;          /* 0 when there is no short form */
    const char *name;     /* long form, without "--"; NULL ends the table */
    const char *argument; /* "FILE"; NULL for a flag */
    enum option_kind kind;
    size_t offset;              /* of the field in the command's options struct */
    const char *help;           /* one line, lower case, without full stop */
    const char *const *choices; /* for OPTION_CHOICE: NULL-terminated */
};

struct command {
    const char *name;     /* "top" */
    const char *operands; /* "FILE" or "[--] command args..." */
    const char *summary;  /* one line for `heapprof --help` */
    const char *details;  /* shown by --help behind the options; may be NULL */
    const struct option_row *rows;
    bool stops_at_operand; /* the first operand ends option parsing (run) */
    int (*run)(const struct command *command, int argc, char **argv); /* returns the exit status */
};

enum option_outcome {
    OPTION_OK,   /* *first_operand is set */
    OPTION_HELP, /* help or the version was asked for and has been printed on stdout: exit 0 */
    OPTION_USAGE /* a usage error, in *error: exit 2 */
};

/* Parses argv[1..argc) (argv[0] is the command's name) into *options by the command's table.
 * Takes -x VALUE, -xVALUE, --name VALUE, --name=VALUE, bundled flags, "--" and "-" as an operand;
 * operands may stand between options unless stops_at_operand. Operands are moved to the end of
 * argv, *first_operand is the index of the first (argc when there is none). */
enum option_outcome option_parse(const struct command *command, int argc, char **argv,
                                 void *options, int *first_operand, struct error *error);

/* The --help text of a command on stdout. */
void option_print_help(const struct command *command);

/* "heapprof VERSION" on stdout. */
void option_print_version(void);

/* A size such as "512K", "1.5M" or "64" (K, M, G are 1024, 1024^2, 1024^3, in either case; parts of
 * a byte are dropped): false when it is none or overflows. */
bool option_size(const char *text, uint64_t *bytes);

/* A duration such as "1ms", "1.5s" or "0": a number with one of the units ns, us, ms, s, m, h (0
 * needs none; parts of a nanosecond are dropped). False when it is none or overflows. */
bool option_duration(const char *text, uint64_t *nanoseconds);

#endif
