/* machine_comments.c: finds "# KEY VALUE" among a profile's comments. */
#include "cli/machine_comments.h"

#include <string.h>

#include "cli/decimal.h"
#include "proto/profile.h"

const char *machine_comment(const struct profile *profile, const char *key)
{
    size_t length = strlen(key);
    for (uint32_t i = 0; i < profile->comment_count; i++) {
        const char *text = profile->comments[i];
        if (strncmp(text, "# ", 2) != 0 || strncmp(text + 2, key, length) != 0)
            continue;
        const char *after = text + 2 + length;
        if (*after == ' ')
            return after + 1;
        if (*after == '\0')
            return after;
    }
    return NULL;
}

bool machine_comment_number(const struct profile *profile, const char *key, uint64_t *number)
{
    const char *text = machine_comment(profile, key);
    uint64_t value;
    if (!text || !decimal_read(&text, &value) || *text != '\0')
        return false;
    *number = value;
    return true;
}
