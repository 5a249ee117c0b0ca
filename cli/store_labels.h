/* store_labels.h: nodes of the store that are no frames but labels of the samples below them. */
#ifndef HEAPPROF_CLI_STORE_LABELS_H
#define HEAPPROF_CLI_STORE_LABELS_H

#include <stdint.h>

#include "cli/store_reader.h"
#include "proto/profile.h"

/* Writes the labels that a node's pc (STORE_FRAME_LABEL or more) stands for into labels[0..room),
 * and returns how many there are: "thread" and "tid" for a thread, "bytes" for a size class (its
 * upper bound). None for a shard, and for what makes no
 * sense. Their texts are good until the next call. */
unsigned store_labels(const struct store_snapshot *snapshot, const struct store_image *image,
                      uint64_t pc, struct profile_label *labels, unsigned room);

#endif
