/* leaks.c: heapprof leaks, what was still in use, and where it was allocated. */
#include "cli/command.h"
#include "cli/leak_report.h"
#include "cli/leak_stacks.h"
#include "cli/option.h"
#include "cli/report_input.h"
#include "cli/suppressions.h"
#include "proto/error.h"
#include "proto/profile.h"

#include <stdio.h>

struct leaks_options {
    struct leak_report_options report;
    const char *suppressions;
    uint64_t fail_above;
};

#define TO(field) offsetof(struct leaks_options, field)

static const struct option_row leaks_rows[] = {
    {'n', "stack-count", "N", OPTION_NUMBER, TO(report.stack_count),
     "show at most N stacks (default 20; 0 shows all)", NULL},
    {0, "frames", "N", OPTION_NUMBER, TO(report.frame_count),
     "show at most N frames of a stack (default 32; 0 shows all)", NULL},
    {0, "min", "SIZE", OPTION_SIZE, TO(report.min_bytes), "leave out stacks that hold less", NULL},
    {0, "suppressions", "FILE", OPTION_TEXT, TO(suppressions),
     "leave out what FILE names, in LeakSanitizer's format (leak:PATTERN)", NULL},
    {0, "fail-above", "SIZE", OPTION_SIZE, TO(fail_above),
     "exit with status 3 when more than SIZE is left (0: when anything is)", NULL},
    {0},
};

static int leaks_run(const struct command *command, int argc, char **argv)
{
    struct error error = {0};
    struct leaks_options options = {
        .report = leak_report_options_default(),
        .fail_above = UINT64_MAX,
    };
    const char *path;
    int type_index, status;
    if (!report_input_arguments(command, argc, argv, &options, &path, &status))
        return status;
    struct suppressions *suppressions = NULL;
    if (options.suppressions && !(suppressions = suppressions_read(options.suppressions, &error)))
        return command_fail(STATUS_FAILED, &error);
    struct profile *profile = report_input_read(path, "inuse_space", &type_index, &error);
    if (profile == NULL) {
        suppressions_free(suppressions);
        return command_fail(STATUS_FAILED, &error);
    }
    struct leak_stacks leaks;
    leak_stacks_init(&leaks, profile, type_index, suppressions);
    leak_report_print(&leaks, profile, suppressions, &options.report, stdout);
    status = leak_stacks_exceed(&leaks, options.fail_above) ? STATUS_LEAKS : STATUS_OK;
    leak_stacks_done(&leaks);
    profile_free(profile);
    suppressions_free(suppressions);
    return status;
}

const struct command leaks_command = {
    .name = "leaks",
    .operands = "FILE",
    .summary = "show what was still in use at the end, stack by stack",
    .details = "Whether anything still points to it is not known: what a program keeps until its\n"
               "end on purpose is shown too. --suppressions leaves it out.",
    .rows = leaks_rows,
    .run = leaks_run,
};
