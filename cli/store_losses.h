/* store_losses.h: the reasons for which something was not recorded, by name and in words. */
#ifndef HEAPPROF_CLI_STORE_LOSSES_H
#define HEAPPROF_CLI_STORE_LOSSES_H

#include <stddef.h>

#include "proto/store_layout.h"

struct store_loss_text {
    const char *name;  /* of the enum, without STORE_LOSS_, in capitals */
    const char *words; /* for people, behind a number of events */
};

extern const struct store_loss_text store_loss_texts[STORE_LOSS_COUNT];

/* The words for name[0..length), in either case; NULL for a reason that this version does not
 * know. */
const char *store_loss_words(const char *name, size_t length);

#endif
