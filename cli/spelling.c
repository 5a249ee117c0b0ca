/* spelling.c: what somebody who mistyped a word may have meant.
 *
 * Edit distance with swaps of neighbours (optimal string alignment; Damerau 1964, Wagner and
 * Fischer 1974), in three rows, for words of at most WORD_LIMIT bytes: longer ones are no typing
 * errors of option names. */
#include "cli/spelling.h"

#include <stddef.h>
#include <string.h>

#define WORD_LIMIT 40

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned distance_of(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned rows[3][WORD_LIMIT + 1];
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *above = rows[(i - 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            unsigned replaced = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(replaced, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], rows[(i - 2) % 3][j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

void spelling_init(struct spelling *spelling, const char *word)
{
    *spelling = (struct spelling){.word = word};
}

void spelling_offer(struct spelling *spelling, const char *candidate)
{
    size_t word_length = strlen(spelling->word);
    size_t length = strlen(candidate);
    if (word_length == 0 || word_length > WORD_LIMIT || length > WORD_LIMIT)
        return;
    size_t longer = word_length > length ? word_length : length;
    unsigned limit = longer < 6 ? 1 : (unsigned)(longer / 3);
    unsigned distance = distance_of(spelling->word, word_length, candidate, length);
    if (strncmp(spelling->word, candidate, word_length) == 0)
        distance = 0;
    if (distance > limit || (spelling->best != NULL && distance >= spelling->best_distance))
        return;
    spelling->best = candidate;
    spelling->best_distance = distance;
}
