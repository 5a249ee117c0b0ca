/* store_snapshot.c: a private copy of one slot of the shared store.
 *
 * Copied by pread, not read through a mapping: a read of a hole in a shared mapping would allocate
 * the page, and a process that still runs could change a number between its check and its use. */
#include "cli/store_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/arena.h"
#include "proto/error.h"

static bool read_all(int fd, void *to, uint64_t size, uint64_t offset)
{
    char *at = to;
    while (size > 0) {
        ssize_t got = pread(fd, at, size, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got == 0 ? ENODATA : errno;
            return false;
        }
        at += got;
        size -= (uint64_t)got;
        offset += (uint64_t)got;
    }
    return true;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* A copy of count elements; NULL when there are none or they cannot be read (errno then). */
static void *copy_part(int store, uint64_t offset, uint32_t count, size_t size)
{
    if (count == 0)
        return NULL;
    void *part = heap_alloc(count * size);
    if (read_all(store, part, count * size, offset))
        return part;
    free(part);
    return NULL;
}

static bool copy_parts(struct store_snapshot *snapshot, int store, uint64_t offset,
                       const struct store_geometry *geometry)
{
    const struct store_header *header = &snapshot->header;
    snapshot->thread_count = smaller(header->thread_count, geometry->thread_capacity);
    snapshot->module_count = smaller(header->module_count, geometry->module_capacity);
    snapshot->text_size = smaller(header->text_used, geometry->text_capacity);
    snapshot->node_count = smaller(header->node_count, geometry->node_capacity);
    snapshot->stack_count = smaller(header->stack_count, geometry->stack_capacity);
    snapshot->modules = copy_part(store, offset + geometry->modules_offset, snapshot->module_count,
                                  sizeof(struct store_module));
    snapshot->text = copy_part(store, offset + geometry->text_offset, snapshot->text_size, 1);
    snapshot->nodes = copy_part(store, offset + geometry->nodes_offset, snapshot->node_count,
                                sizeof(struct store_node));
    snapshot->stacks = copy_part(store, offset + geometry->stacks_offset, snapshot->stack_count,
                                 sizeof(struct store_stack));
    snapshot->threads = copy_part(store, offset + geometry->threads_offset, snapshot->thread_count,
                                  sizeof(struct store_thread));
    return read_all(store, &snapshot->sizes, sizeof(snapshot->sizes),
                    offset + geometry->sizes_offset) &&
           (snapshot->threads || snapshot->thread_count == 0) &&
           (snapshot->modules || snapshot->module_count == 0) &&
           (snapshot->text || snapshot->text_size == 0) &&
           (snapshot->nodes || snapshot->node_count == 0) &&
           (snapshot->stacks || snapshot->stack_count == 0);
}

bool store_snapshot_read(struct store_snapshot *snapshot, int store, uint64_t offset,
                         uint64_t slot_bytes, struct error *error)
{
    *snapshot = (struct store_snapshot){0};
    struct store_geometry geometry;
    if (!store_geometry_of(slot_bytes, &geometry)) {
        error_set(error, NULL, "a slot of %llu bytes is impossible",
                  (unsigned long long)slot_bytes);
        return false;
    }
    struct store_header *header = &snapshot->header;
    if (!read_all(store, header, sizeof(*header), offset)) {
        error_set_errno(error, NULL, errno, "the recorded data cannot be read");
        return false;
    }
    if (header->magic == 0) {
        *header = (struct store_header){0}; /* never set up: nothing was recorded */
        return true;
    }
    if (header->magic != STORE_MAGIC || header->version != STORE_VERSION) {
        error_set(error, NULL, "the program has overwritten the recorded data");
        return false;
    }
    if (!copy_parts(snapshot, store, offset, &geometry)) {
        error_set_errno(error, NULL, errno, "the recorded data cannot be read");
        store_snapshot_free(snapshot);
        return false;
    }
    return true;
}

void store_snapshot_free(struct store_snapshot *snapshot)
{
    free(snapshot->threads);
    free(snapshot->modules);
    free(snapshot->nodes);
    free(snapshot->stacks);
    free(snapshot->text);
    *snapshot = (struct store_snapshot){0};
}

bool store_slot_is_started(int store, uint64_t offset)
{
    struct store_header header;
    return read_all(store, &header, sizeof(header), offset) && header.magic != 0;
}

bool store_slot_has_samples(int store, uint64_t offset)
{
    struct store_header header;
    return read_all(store, &header, sizeof(header), offset) && header.magic != 0 &&
           header.stack_count > 1;
}
