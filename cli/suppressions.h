/* suppressions.h: leaks that somebody knows of, in LeakSanitizer's format.
 *
 * One "leak:PATTERN" a line; blank lines and those that begin with '#' are read over, and so are
 * spaces, tabs and a CR around a line. A pattern is looked for in function names, source files and
 * modules, and matches as it does in LeakSanitizer: anywhere in the text; '*' stands for anything,
 * '^' in front for the beginning, '$' behind for the end (what follows a '$' is ignored). Each
 * piece between these is taken where it comes first, so that "foo$" does not match "foofoo". An
 * empty text matches nothing. Source: https://github.com/google/sanitizers, wiki
 * AddressSanitizerLeakSanitizer, section Suppressions; the behaviour is that of LLVM 19. */
#ifndef HEAPPROF_CLI_SUPPRESSIONS_H
#define HEAPPROF_CLI_SUPPRESSIONS_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct error;

struct suppression {
    const char *pattern; /* not empty; any bytes but NUL and LF */
    size_t line;         /* of the file, from 1 */
};

struct suppressions {
    struct arena *arena;
    const char *path;
    struct suppression *items; /* in the file's order */
    size_t count;
};

/* Reads the file at path ("-" is stdin). NULL, with *error naming the file, or file and line, and
 * the reason: it cannot be read, is larger than 16 MiB, or has a line that is none of the above.
 * Freed with suppressions_free, which accepts NULL. */
struct suppressions *suppressions_read(const char *path, struct error *error);
void suppressions_free(struct suppressions *suppressions);

/* Whether pattern matches text. Pure. */
bool suppression_matches(const char *pattern, const char *text);

/* The index of the first suppression that matches text, count when there is none. */
size_t suppressions_find(const struct suppressions *suppressions, const char *text);

#endif
