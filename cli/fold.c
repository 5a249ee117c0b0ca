/* fold.c: heapprof fold, a profile as folded stacks on standard output or in a file.
 *
 * The text itself is made by folded.c, for `run --format=folded` as well. */
#include "cli/command.h"
#include "cli/folded.h"
#include "cli/option.h"
#include "cli/output_file.h"
#include "cli/report_input.h"
#include "proto/error.h"
#include "proto/profile.h"

#include <errno.h>

struct fold_options {
    const char *sample_type;
    const char *output;
};

#define TO(field) offsetof(struct fold_options, field)

static const struct option_row fold_rows[] = {
    {0, "sample-type", "NAME", OPTION_TEXT, TO(sample_type),
     "write {alloc,inuse,peak}_{objects,space} (default: the file's own, peak_space for a run that "
     "has ended)",
     NULL},
    {'o', "output", "FILE", OPTION_TEXT, TO(output), "write to FILE (default: standard output)",
     NULL},
    {0},
};

static bool write_folded(const struct profile *profile, int type_index, const char *path,
                         struct error *error)
{
    struct output_file *output = output_open(path, error);
    if (output == NULL)
        return false;
    if (!folded_write(profile, type_index, output_stream(output))) {
        error_set_errno(error, path, errno, "cannot write");
        output_discard(output);
        return false;
    }
    return output_commit(output, error);
}

static int fold_run(const struct command *command, int argc, char **argv)
{
    struct error error = {0};
    struct fold_options options = {.output = "-"};
    const char *path;
    int type_index, status;
    if (!report_input_arguments(command, argc, argv, &options, &path, &status))
        return status;
    struct profile *profile = report_input_read(path, options.sample_type, &type_index, &error);
    if (profile == NULL)
        return command_fail(STATUS_FAILED, &error);
    bool written = write_folded(profile, type_index, options.output, &error);
    profile_free(profile);
    return written ? STATUS_OK : command_fail(STATUS_FAILED, &error);
}

const struct command fold_command = {
    .name = "fold",
    .operands = "FILE",
    .summary = "write a profile as folded stacks, for flame graph tools",
    .details = "One line a stack: root;caller;leaf VALUE. In names, ';' becomes ':', and line\n"
               "ends and other control characters become spaces: every line splits back.",
    .rows = fold_rows,
    .run = fold_run,
};
