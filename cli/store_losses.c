/* store_losses.c: the table of the store's losses, spelled out. */
#include "cli/store_losses.h"

#include <string.h>
#include <strings.h>

const struct store_loss_text store_loss_texts[STORE_LOSS_COUNT] = {
#define LOSS_ROW(name, words) [STORE_LOSS_##name] = {#name, words},
    STORE_LOSSES(LOSS_ROW)
#undef LOSS_ROW
};

const char *store_loss_words(const char *name, size_t length)
{
    for (size_t i = 0; i < STORE_LOSS_COUNT; i++)
        if (strlen(store_loss_texts[i].name) == length &&
            strncasecmp(store_loss_texts[i].name, name, length) == 0)
            return store_loss_texts[i].words;
    return NULL;
}
