/* file_bytes.c: reads whole files.
 *
 * read rather than mmap: a file that another process cuts short while we read is a short read,
 * not a SIGBUS, and pipes work the same way. */
#include "proto/file_bytes.h"

#include "proto/arena.h"
#include "proto/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_BYTES ((size_t)64 << 10)

/* The size the file says it has, 0 when that means nothing. False for what cannot be read. */
static bool check_kind(int descriptor, const char *name, size_t limit, size_t *expected,
                       struct error *error)
{
    struct stat status;
    *expected = 0;
    if (fstat(descriptor, &status) != 0) {
        error_set_errno(error, name, errno, "cannot be read");
        return false;
    }
    if (S_ISDIR(status.st_mode)) {
        error_set(error, name, "is a directory");
        return false;
    }
    if (!S_ISREG(status.st_mode) || status.st_size <= 0)
        return true;
    if ((uintmax_t)status.st_size > limit) {
        error_set(error, name, "too large: more than %zu MiB", limit >> 20);
        return false;
    }
    *expected = (size_t)status.st_size;
    return true;
}

static bool read_all(int descriptor, const char *name, size_t limit, size_t expected,
                     uint8_t **bytes, size_t *size, struct error *error)
{
    size_t capacity = 0;
    size_t used = 0;
    /* one more than expected, so that the end is seen without growing */
    size_t need = expected > 0 ? expected + 1 : FIRST_BYTES;
    for (;;) {
        *bytes = heap_grow(*bytes, &capacity, need, 1);
        ssize_t got = read(descriptor, *bytes + used, capacity - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            error_set_errno(error, name, errno, "cannot be read");
            return false;
        }
        if (got == 0)
            break;
        used += (size_t)got;
        if (used > limit) {
            error_set(error, name, "too large: more than %zu MiB", limit >> 20);
            return false;
        }
        need = used + 1;
    }
    *size = used;
    return true;
}

static const char *name_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

bool file_bytes_read_any(const char *path, size_t limit, uint8_t **bytes, size_t *size,
                         struct error *error)
{
    bool is_stdin = strcmp(path, "-") == 0;
    const char *name = name_of(path);
    int descriptor = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0) {
        error_set_errno(error, name, errno, "cannot be opened");
        return false;
    }
    size_t expected;
    *bytes = NULL;
    bool ok = check_kind(descriptor, name, limit, &expected, error) &&
              read_all(descriptor, name, limit, expected, bytes, size, error);
    if (!is_stdin)
        close(descriptor);
    if (!ok) {
        free(*bytes);
        *bytes = NULL;
    }
    return ok;
}

bool file_bytes_read(const char *path, size_t limit, uint8_t **bytes, size_t *size,
                     struct error *error)
{
    if (!file_bytes_read_any(path, limit, bytes, size, error))
        return false;
    if (*size > 0)
        return true;
    error_set(error, name_of(path), "empty file");
    free(*bytes);
    *bytes = NULL;
    return false;
}
