/* collector_output.c: finished files get their place, or another one when that fails.
 *
 * The other place is a folder of its own, made by mkdtemp: a name in a shared folder could be a
 * link that somebody else has put there. */
#include "cli/collector_output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output_file.h"
#include "proto/arena.h"
#include "proto/error.h"

enum { COPY_BYTES = 64 << 10 };

/* Copies the rest of source; false when it cannot be read or the stream has an error. */
static bool copy(int source, FILE *stream)
{
    char *bytes = heap_alloc(COPY_BYTES);
    bool ok = true;
    for (;;) {
        ssize_t got = read(source, bytes, COPY_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        ok = got >= 0 && (got == 0 || fwrite(bytes, 1, (size_t)got, stream) == (size_t)got);
        if (!ok || got == 0)
            break;
    }
    free(bytes);
    return ok;
}

static bool write_to(int folder, const char *path, int source, struct error *error)
{
    struct output_file *output = output_open_at(folder, path, error);
    if (!output)
        return false;
    if (!copy(source, output_stream(output))) {
        error_set_errno(error, path, errno, "cannot be written");
        output_discard(output);
        return false;
    }
    return output_commit(output, error);
}

/* Tries a new folder under base; the file's path there, which the caller frees, or NULL. */
static char *write_below(const char *base, const char *path, int source)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (name[0] == '\0' || strcmp(name, "-") == 0)
        name = "heap";
    char *place;
    if (asprintf(&place, "%s/heapprof-XXXXXX/%s", base, name) < 0)
        return NULL;
    char *end = place + strlen(place) - strlen(name) - 1;
    *end = '\0';
    if (mkdtemp(place)) {
        *end = '/';
        if (write_to(-1, place, source, NULL))
            return place;
        *end = '\0';
        rmdir(place);
    }
    free(place);
    return NULL;
}

bool output_deliver(int folder, const char *path, int source, char **place, struct error *error)
{
    off_t start = lseek(source, 0, SEEK_CUR);
    *place = NULL;
    if (write_to(folder, path, source, error)) {
        *place = heap_text(path);
        return true;
    }
    const char *temporary = getenv("TMPDIR");
    const char *bases[] = {temporary && temporary[0] == '/' ? temporary : "/tmp", "/tmp"};
    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]) && !*place; i++) {
        if (start >= 0 && lseek(source, start, SEEK_SET) == start)
            *place = write_below(bases[i], path, source);
    }
    return *place != NULL;
}
