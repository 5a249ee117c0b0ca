/* spelling.h: what somebody who mistyped a word may have meant. */
#ifndef HEAPPROF_CLI_SPELLING_H
#define HEAPPROF_CLI_SPELLING_H

/* The best candidate so far for one mistyped word. */
struct spelling {
    const char *word;
    const char *best; /* NULL while nothing is close */
    unsigned best_distance;
};

/* Begins with a word (kept, not copied). */
void spelling_init(struct spelling *spelling, const char *word);

/* Offers a right word (kept in best when it is the closest so far). Close is one that word is the
 * beginning of, or that few typing errors turn into word: a letter wrong, missing, too many, or
 * swapped with its neighbour; one for each three letters, at least one. Of equals the first wins.
 */
void spelling_offer(struct spelling *spelling, const char *candidate);

#endif
