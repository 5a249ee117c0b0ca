/* report_input.c: what every report begins with: a profile from a file, and one of its values. */
#include "cli/report_input.h"

#include <stddef.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/option.h"
#include "cli/progress.h"
#include "proto/error.h"
#include "proto/pprof.h"
#include "proto/profile.h"

#define NAMES_SIZE 512

/* "alloc_space, inuse_space" into names; a list that is too long ends in "...". */
static void list_types(const struct profile *profile, char names[NAMES_SIZE])
{
    size_t used = 0;
    names[0] = '\0';
    for (uint32_t i = 0; i < profile->sample_type_count; i++) {
        int printed = snprintf(names + used, NAMES_SIZE - used, "%s%s", i > 0 ? ", " : "",
                               profile->sample_types[i].type);
        if (printed < 0 || (size_t)printed >= NAMES_SIZE - used - sizeof(", ...")) {
            snprintf(names + used, NAMES_SIZE - used, "%s...", i > 0 ? ", " : "");
            return;
        }
        used += (size_t)printed;
    }
}

static struct profile *read_with_progress(const char *path, struct error *error)
{
    struct progress progress;
    progress_start(&progress, "reading the profile");
    struct profile *profile = pprof_read_file(path, error);
    progress_end(&progress);
    return profile;
}

struct profile *report_input_read(const char *path, const char *sample_type, int *type_index,
                                  struct error *error)
{
    char names[NAMES_SIZE];
    struct profile *profile = read_with_progress(path, error);
    if (profile == NULL)
        return NULL;
    *type_index = profile_sample_type_index(profile, sample_type);
    if (*type_index >= 0)
        return profile;
    list_types(profile, names);
    if (profile->sample_type_count == 0)
        error_set(error, path, "has no sample types");
    else
        error_set(error, path, "no sample type '%s'; it has %s",
                  sample_type != NULL ? sample_type : "", names);
    profile_free(profile);
    return NULL;
}

bool report_input_arguments(const struct command *command, int argc, char **argv, void *options,
                            const char **path, int *status)
{
    struct error error = {0};
    int operand;
    enum option_outcome outcome = option_parse(command, argc, argv, options, &operand, &error);
    if (outcome == OPTION_HELP) {
        *status = STATUS_OK;
        return false;
    }
    if (outcome == OPTION_OK && argc - operand == 1) {
        *path = argv[operand];
        return true;
    }
    if (outcome == OPTION_OK)
        error_set(&error, command->name, "needs exactly one profile file");
    *status = command_fail(STATUS_USAGE, &error);
    return false;
}
