/* pattern.h: regular expressions that cannot be made to take long.
 *
 * Patterns come from profiles, that is from anywhere, and are written for Go's regexp (RE2): this
 * is that syntax, matched in time proportional to pattern times text, in bounded memory.
 *
 * Understood: literals, ".", classes with ranges, negation, [:alpha:] names and \d \w \s inside,
 * (...) (?:...) (?P<name>...), flags (?i) (?m) (?s) (?U), "|", "*" "+" "?" {n} {n,} {n,m} with or
 * without a lazy "?", ^ $ \A \z \b \B, escapes (\. \n \t \x41 \x{2029} \101 ...), \Q...\E.
 * Not understood (such a pattern does not compile): \pL and other Unicode classes, \C. Ignoring
 * case knows ASCII only. Source of the syntax: https://github.com/google/re2/wiki/Syntax */
#ifndef HEAPPROF_CLI_PATTERN_H
#define HEAPPROF_CLI_PATTERN_H

#include <stdbool.h>

struct pattern;

/* The compiled form of text (valid UTF-8); NULL when it is no valid pattern, or one that nests or
 * repeats so much that it would be too large. Freed with pattern_free (which accepts NULL). */
struct pattern *pattern_new(const char *text);
void pattern_free(struct pattern *pattern);

/* Whether the pattern matches somewhere in text (valid UTF-8). Not thread-safe: a pattern has
 * working memory of its own. */
bool pattern_matches(struct pattern *pattern, const char *text);

#endif
