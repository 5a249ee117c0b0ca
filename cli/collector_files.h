/* collector_files.h: the files of the modules that were seen, held open until they are needed.
 *
 * A module's file is opened while a process that maps it is alive, through that process' view of
 * the file system: a binary that is replaced or deleted later, or that lies in another mount
 * namespace, can still be symbolized. One file serves all processes of a run. When descriptors run
 * out the path alone has to do. Not thread-safe. */
#ifndef HEAPPROF_CLI_COLLECTOR_FILES_H
#define HEAPPROF_CLI_COLLECTOR_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct profile_mapping;

struct files {
    struct file_entry *entries;
    size_t count, capacity;
    size_t next_victim; /* the oldest entry with a descriptor, or near it */
    size_t open_count, open_limit;
};

/* Starts empty; holds at most open_limit descriptors. Ends with files_close. */
void files_init(struct files *files, size_t open_limit);
void files_close(struct files *files);

/* One module of a process, as it is seen. */
struct files_module {
    pid_t pid;              /* the process, alive when it can be */
    const char *path;       /* as pid sees it; "" for its program */
    const char *executable; /* what the program is called in mappings */
    int program;            /* a descriptor for the program, -1 for none; stays the caller's */
    const uint8_t *build_id;
    uint32_t build_id_length; /* 0: it has none */
};

/* Remembers the file of a module. */
void files_add(struct files *files, const struct files_module *module);

/* A descriptor for the file behind mapping, to be closed by the caller; -1 when there is none.
 * Falls back to the path. Also for use in a forked child. */
int files_open(const struct files *files, const struct profile_mapping *mapping);

/* Closes half of the descriptors, the oldest first: the process is short of them. */
void files_shed(struct files *files);

#endif
