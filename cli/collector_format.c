/* collector_format.c: the formats that a run writes. Folded stacks and pictures show the profile's
 * default sample type; the pprof file holds all of them. */
#include "cli/collector_format.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/flame_svg.h"
#include "cli/folded.h"
#include "proto/error.h"
#include "proto/pprof.h"
#include "proto/profile.h"

static bool write_pprof(const struct profile *profile, FILE *stream, struct error *error)
{
    uint8_t *bytes;
    size_t size;
    if (!pprof_encode(profile, &bytes, &size, error))
        return false;
    bool ok = fwrite(bytes, 1, size, stream) == size;
    if (!ok)
        error_set_errno(error, NULL, errno, "cannot write the profile");
    free(bytes);
    return ok;
}

static bool write_folded(const struct profile *profile, FILE *stream, struct error *error)
{
    bool ok = folded_write(profile, profile_sample_type_index(profile, NULL), stream);
    if (!ok)
        error_set_errno(error, NULL, errno, "cannot write the profile");
    return ok;
}

static bool write_svg(const struct profile *profile, FILE *stream, struct error *error)
{
    struct flame_options options = flame_options_default();
    return flame_svg_write(profile, profile_sample_type_index(profile, NULL), &options, stream,
                           error);
}

static const struct format {
    const char *name, *suffix;
    bool (*write)(const struct profile *profile, FILE *stream, struct error *error);
} formats[] = {
    {"pprof", ".prof", write_pprof},
    {"folded", ".folded", write_folded},
    {"svg", ".svg", write_svg},
};

const char *const format_names[] = {"pprof", "folded", "svg", NULL};

static const struct format *find(const char *name)
{
    for (size_t i = 0; name && i < sizeof(formats) / sizeof(formats[0]); i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return &formats[0];
}

const char *format_suffix(const char *name)
{
    return find(name)->suffix;
}

bool format_write(const char *name, const struct profile *profile, FILE *stream,
                  struct error *error)
{
    return find(name)->write(profile, stream, error);
}
