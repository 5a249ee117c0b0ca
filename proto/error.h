/* error.h: one failure, in words, carried from deep code to the command that prints it.
 *
 * Deep code prints nothing and never exits: it returns false (or NULL) and fills a struct error.
 * The command prints it once, as "heapprof: TEXT", and picks the exit status. */
#ifndef HEAPPROF_PROTO_ERROR_H
#define HEAPPROF_PROTO_ERROR_H

struct error {
    char text[1024]; /* one line, lower case, no full stop; "" when nothing failed */
};

/* Fills *error with "SUBJECT: REASON". subject is what failed (a file name, an option), NULL for
 * none; format and what follows as in printf. Control characters in the result are shown as '?',
 * so that a hostile file name stays one line. A text that is too long is cut. error may be NULL.
 * Keeps errno. */
void error_set(struct error *error, const char *subject, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As error_set, with ": " and the words for errno_value behind it. */
void error_set_errno(struct error *error, const char *subject, int errno_value, const char *format,
                     ...) __attribute__((format(printf, 4, 5)));

#endif
