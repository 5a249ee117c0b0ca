/* terminal_text.h: text from files on a terminal, without letting it command the terminal. */
#ifndef HEAPPROF_CLI_TERMINAL_TEXT_H
#define HEAPPROF_CLI_TERMINAL_TEXT_H

#include <stdio.h>

/* Writes text (valid UTF-8) to stream. Control characters, and those that turn the direction of
 * writing around and so make text look like another, are shown as escapes: \n, \t, \x1b, \u202e.
 * Everything else stays as it is. Errors stay in stream. */
void terminal_text_write(const char *text, FILE *stream);

/* As terminal_text_write, but line ends and tabs stay: for texts of several lines. */
void terminal_text_write_lines(const char *text, FILE *stream);

#endif
