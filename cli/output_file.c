/* output_file.c: a file that appears whole or not at all.
 *
 * The temporary file lies in the folder of the file it is to replace, since rename works within
 * one file system only. Links are resolved by hand, down to the last one: rename would replace
 * the link itself, and /dev/stdout, /dev/fd/N and /proc/PID/fd/N lead through links of procfs that
 * stand for an open descriptor; opening those anew would start at the file's beginning and
 * overwrite what is there, so the descriptor itself is taken.
 *
 * There is no fsync: a profile is not worth stalling the end of a run for a disk, file systems
 * that delay allocation reserve the room at write(), and those that report late (NFS, FUSE) do so
 * at close(), which is checked. */
#include "cli/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "proto/arena.h"
#include "proto/error.h"

enum { MAX_LINKS = 40, TEMP_TRIES = 100 };

struct output_file {
    FILE *stream;
    char *path;    /* as the caller gave it, for messages */
    int folder;    /* of the final file; -1 when it is written straight */
    char *name;    /* final name in folder */
    char temp[32]; /* temporary name in folder */
};

/* Where a path leads once every link is followed. */
struct place {
    int folder;              /* O_PATH descriptor of the last folder, -1 for descriptor */
    char name[NAME_MAX + 1]; /* last component, not a link */
    int descriptor;          /* the open descriptor that path stands for, -1 for none */
    bool is_magic;           /* a link of procfs: to be opened as it is */
};

/* Whether folder lies in procfs: the links there stand for open files, their text does not count.
 */
static bool is_procfs(int folder)
{
    struct statfs fs;
    return fstatfs(folder, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* Whether folder is /proc/self/fd; another process' /proc/PID/fd is not. */
static bool is_own_descriptors(int folder)
{
    struct stat st, own;
    return fstat(folder, &st) == 0 && stat("/proc/self/fd", &own) == 0 && st.st_dev == own.st_dev &&
           st.st_ino == own.st_ino;
}

/* The number in "1" of /proc/self/fd/1; -1 when name is not one. */
static int descriptor_number(const char *name)
{
    char *end;
    errno = 0;
    long number = strtol(name, &end, 10);
    if (name[0] < '0' || name[0] > '9' || *end != '\0' || errno != 0 || number > INT_MAX)
        return -1;
    return (int)number;
}

/* Moves place->folder to the folder of path (relative to base) and sets the last component. */
static bool place_enter(struct place *place, int base, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    char folder[PATH_MAX];
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (strlen(name) > NAME_MAX || length >= sizeof(folder)) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        errno = path[0] == '\0' ? ENOENT : EISDIR;
        return false;
    }
    if (slash && length == 0)
        length = 1; /* "/name": the folder is "/" */
    memcpy(folder, path, length);
    folder[length] = '\0';
    int fd = openat(base, length ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (place->folder >= 0)
        close(place->folder);
    place->folder = fd;
    memcpy(place->name, name, strlen(name) + 1);
    return true;
}

/* Follows path, relative to folder, to the file it names. False with errno. */
static bool place_find(struct place *place, int folder, const char *path)
{
    *place = (struct place){.folder = -1, .descriptor = -1};
    if (strcmp(path, "-") == 0) {
        place->descriptor = STDOUT_FILENO;
        return true;
    }
    if (!place_enter(place, folder, path))
        return false;
    for (int links = 0; links < MAX_LINKS; links++) {
        char target[PATH_MAX];
        ssize_t length = readlinkat(place->folder, place->name, target, sizeof(target) - 1);
        if (length < 0)
            return true; /* not a link, or not there yet */
        target[length] = '\0';
        if (is_procfs(place->folder)) {
            place->is_magic = true;
            if (is_own_descriptors(place->folder))
                place->descriptor = descriptor_number(place->name);
            return true;
        }
        if (!place_enter(place, place->folder, target))
            return false;
    }
    errno = ELOOP;
    return false;
}

static void place_leave(struct place *place)
{
    if (place->folder >= 0)
        close(place->folder);
    place->folder = -1;
}

/* The mode of the file there, 0 when there is none yet. False with errno. */
static bool place_mode(const struct place *place, mode_t *mode)
{
    struct stat st;
    if (fstatat(place->folder, place->name, &st, 0) == 0) {
        *mode = st.st_mode;
        return true;
    }
    *mode = 0;
    return errno == ENOENT;
}

/* A new, empty file in folder, under a name that nobody has; its descriptor or -1 with errno. */
static int create_temp(int folder, char *name, size_t size)
{
    for (int attempt = 0; attempt < TEMP_TRIES; attempt++) {
        uint64_t random = 0;
        if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != (ssize_t)sizeof(random))
            random = ((uint64_t)getpid() << 16) + (uint64_t)attempt;
        snprintf(name, size, ".heapprof-%016llx", (unsigned long long)random);
        int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* The descriptor to write to: a duplicate, a device, or a temporary file. -1 with errno. */
static int open_place(struct output_file *output, struct place *place)
{
    if (place->descriptor >= 0)
        return fcntl(place->descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    mode_t mode;
    if (!place_mode(place, &mode))
        return -1;
    if (place->is_magic || (mode != 0 && !S_ISREG(mode)))
        return openat(place->folder, place->name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    int fd = create_temp(place->folder, output->temp, sizeof(output->temp));
    if (fd >= 0) {
        output->folder = place->folder;
        output->name = heap_text(place->name);
        place->folder = -1;
    }
    return fd;
}

struct output_file *output_open(const char *path, struct error *error)
{
    return output_open_at(AT_FDCWD, path, error);
}

struct output_file *output_open_at(int folder, const char *path, struct error *error)
{
    struct output_file *output = heap_alloc(sizeof(*output));
    *output = (struct output_file){.path = heap_text(path), .folder = -1};
    struct place place;
    int fd = -1;
    if (place_find(&place, folder, path))
        fd = open_place(output, &place);
    int saved = errno;
    place_leave(&place);
    if (fd >= 0) {
        output->stream = fdopen(fd, "w");
        if (output->stream)
            return output;
        saved = errno;
        close(fd);
    }
    error_set_errno(error, path, saved, "cannot be written");
    output_discard(output);
    return NULL;
}

FILE *output_stream(struct output_file *output)
{
    return output->stream;
}

bool output_commit(struct output_file *output, struct error *error)
{
    /* A stream that failed before may flush well now (the disk has room again), with a hole in
     * the data: its error flag is what counts. */
    bool failed_before = ferror(output->stream) != 0;
    errno = 0;
    bool ok = fflush(output->stream) == 0 && !failed_before;
    int saved = errno;
    if (fclose(output->stream) != 0 && ok) {
        ok = false;
        saved = errno;
    }
    output->stream = NULL;
    if (ok && output->folder >= 0 &&
        renameat(output->folder, output->temp, output->folder, output->name) != 0) {
        ok = false;
        saved = errno;
    }
    if (ok)
        output->temp[0] = '\0';
    else if (saved != 0)
        error_set_errno(error, output->path, saved, "cannot be written");
    else
        error_set(error, output->path, "cannot be written");
    output_discard(output);
    return ok;
}

void output_discard(struct output_file *output)
{
    if (!output)
        return;
    if (output->stream)
        fclose(output->stream);
    if (output->folder >= 0) {
        if (output->temp[0] != '\0')
            unlinkat(output->folder, output->temp, 0);
        close(output->folder);
    }
    free(output->name);
    free(output->path);
    free(output);
}

/* Whether a file can be made in folder, and be taken away again. False with errno. */
static bool try_folder(int folder)
{
    char temp[32];
    int fd = create_temp(folder, temp, sizeof(temp));
    if (fd < 0)
        return false;
    close(fd);
    return unlinkat(folder, temp, 0) == 0;
}

static bool try_place(const struct place *place)
{
    if (place->descriptor >= 0) {
        int flags = fcntl(place->descriptor, F_GETFL);
        if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY)
            errno = EBADF;
        return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
    }
    mode_t mode;
    if (!place_mode(place, &mode))
        return false;
    if (S_ISDIR(mode)) {
        errno = EISDIR;
        return false;
    }
    if (place->is_magic || (mode != 0 && !S_ISREG(mode)))
        return faccessat(place->folder, place->name, W_OK, AT_EACCESS) == 0;
    return try_folder(place->folder);
}

bool output_probe(int folder, const char *path, struct error *error)
{
    struct place place;
    bool ok = place_find(&place, folder, path) && try_place(&place);
    if (!ok)
        error_set_errno(error, path, errno, "cannot be written");
    place_leave(&place);
    return ok;
}

bool output_is_straight(int folder, const char *path)
{
    struct place place;
    mode_t mode = 0;
    bool straight = place_find(&place, folder, path) &&
                    (place.descriptor >= 0 || place.is_magic ||
                     (place_mode(&place, &mode) && mode != 0 && !S_ISREG(mode) && !S_ISDIR(mode)));
    place_leave(&place);
    return straight;
}
