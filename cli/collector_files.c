/* collector_files.c: the files of the modules that were seen, held open until they are needed. */
#include "cli/collector_files.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/collector_proc.h"
#include "proto/arena.h"
#include "proto/profile.h"
#include "proto/store_layout.h"

struct file_entry {
    char *path; /* as it stands in mappings */
    char build_id[2 * STORE_BUILD_ID_BYTES + 1];
    int fd; /* -1: path only */
};

/* More modules than this in one run are opened by their path. */
enum { MAX_ENTRIES = 16384 };

void files_init(struct files *files, size_t open_limit)
{
    *files = (struct files){.open_limit = open_limit};
}

void files_close(struct files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        if (files->entries[i].fd >= 0)
            close(files->entries[i].fd);
        free(files->entries[i].path);
    }
    free(files->entries);
    *files = (struct files){0};
}

static void hex(const uint8_t *bytes, uint32_t length, char *text)
{
    static const char digits[] = "0123456789abcdef";
    length = length > STORE_BUILD_ID_BYTES ? 0 : length;
    for (uint32_t i = 0; i < length; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * length] = '\0';
}

static struct file_entry *find(const struct files *files, const char *path, const char *build_id)
{
    for (size_t i = 0; i < files->count; i++) {
        struct file_entry *entry = &files->entries[i];
        if (strcmp(entry->build_id, build_id) == 0 && strcmp(entry->path, path) == 0)
            return entry;
    }
    return NULL;
}

/* Whether both descriptors are of the same, unchanged file. */
static bool is_same_file(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Closes one descriptor, going round. */
static void shed_one(struct files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        struct file_entry *entry = &files->entries[files->next_victim++ % files->count];
        if (entry->fd >= 0) {
            close(entry->fd);
            entry->fd = -1;
            files->open_count--;
            return;
        }
    }
}

void files_shed(struct files *files)
{
    for (size_t left = files->open_count / 2 + 1; left > 0; left--)
        shed_one(files);
}

static void keep(struct files *files, struct file_entry *entry, int fd)
{
    if (entry->fd >= 0)
        close(entry->fd);
    else
        files->open_count++;
    entry->fd = fd;
    if (files->open_count > files->open_limit)
        shed_one(files);
}

static int open_module(const struct files_module *module)
{
    if (module->path[0] == '\0' && module->program >= 0)
        return fcntl(module->program, F_DUPFD_CLOEXEC, 0);
    return proc_open_file(module->pid, module->path);
}

static struct file_entry *add_entry(struct files *files, const char *path, const char *build_id)
{
    files->entries =
        heap_grow(files->entries, &files->capacity, files->count + 1, sizeof(*files->entries));
    struct file_entry *entry = &files->entries[files->count++];
    *entry = (struct file_entry){.path = heap_text(path), .fd = -1};
    memcpy(entry->build_id, build_id, strlen(build_id) + 1);
    return entry;
}

void files_add(struct files *files, const struct files_module *module)
{
    const char *name = module->path[0] ? module->path : module->executable;
    if (name[0] != '/')
        return; /* "[vdso]", or a program that is not known */
    char id[2 * STORE_BUILD_ID_BYTES + 1];
    hex(module->build_id, module->build_id_length, id);
    struct file_entry *entry = find(files, name, id);
    if (entry && entry->fd >= 0 && id[0] != '\0')
        return; /* the build id says that it is the same */
    int fd = open_module(module);
    if (fd < 0)
        return; /* opened by its path later, if it is there then */
    if ((entry && entry->fd >= 0 && is_same_file(entry->fd, fd)) ||
        (!entry && files->count >= MAX_ENTRIES))
        close(fd);
    else
        keep(files, entry ? entry : add_entry(files, name, id), fd);
}

/* A descriptor with a position of its own where that is possible. */
static int open_again(int fd)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int again = open(path, O_RDONLY | O_CLOEXEC);
    return again >= 0 ? again : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

int files_open(const struct files *files, const struct profile_mapping *mapping)
{
    const struct file_entry *entry = find(files, mapping->filename, mapping->build_id);
    if (entry && entry->fd >= 0)
        return open_again(entry->fd);
    return mapping->filename[0] == '/' ? proc_open_file(getpid(), mapping->filename) : -1;
}
