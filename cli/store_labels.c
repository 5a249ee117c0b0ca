/* store_labels.c: nodes of the store that are no frames but labels of the samples below them. */
#include "cli/store_labels.h"

#include <stddef.h>

/* A thread goes by the name that the program gave it, else by the one that the kernel has for it:
 * that of the thread that made it. */
static unsigned thread_labels(const struct store_snapshot *snapshot,
                              const struct store_image *image, uint64_t index,
                              struct profile_label *labels)
{
    if (index >= snapshot->thread_count)
        return 0;
    const struct store_thread *thread = &snapshot->threads[index];
    const char *name =
        image->thread_name ? image->thread_name(image->context, (uint32_t)index, thread) : NULL;
    labels[0] = (struct profile_label){.key = "thread", .str = name ? name : ""};
    labels[1] = (struct profile_label){.key = "tid", .num = thread->tid, .num_unit = ""};
    return 2;
}

unsigned store_labels(const struct store_snapshot *snapshot, const struct store_image *image,
                      uint64_t pc, struct profile_label *labels, unsigned room)
{
    uint64_t value = pc & STORE_FRAME_LABEL_VALUE;
    if ((pc & ~STORE_FRAME_LABEL_VALUE) == STORE_FRAME_THREAD && room >= 2)
        return thread_labels(snapshot, image, value, labels);
    if ((pc & ~STORE_FRAME_LABEL_VALUE) == STORE_FRAME_SIZE && room >= 1 &&
        value < STORE_SIZE_CLASSES) {
        *labels =
            (struct profile_label){.key = "bytes", .num = (int64_t)1 << value, .num_unit = "bytes"};
        return 1;
    }
    return 0;
}
