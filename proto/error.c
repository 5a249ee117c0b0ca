/* error.c: puts a failure into one line that is safe to print on a terminal.
 *
 * File names and texts from files are hostile: a newline would fake a second message, an escape
 * sequence would reach the terminal. Where the line is too long, the subject loses its beginning
 * first: the reason matters more than a long path's first folders. */
#include "proto/error.h"

#include "proto/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define TEXT_BYTES sizeof(((struct error *)NULL)->text)
#define SUBJECT_LEAST_BYTES (TEXT_BYTES / 2)

/* Appends text[0..length) at out[used], controls (C0, DEL, C1) and ill-formed bytes as '?', up to
 * the last whole character that fits. Returns the new used. */
static size_t append(char *out, size_t used, const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        bool valid;
        size_t step = utf8_step(text + at, length - at, &valid);
        unsigned char first = (unsigned char)text[at];
        bool c1 = first == 0xc2 && step == 2 && (unsigned char)text[at + 1] < 0xa0;
        bool shown = valid && first >= 0x20 && first != 0x7f && !c1;
        size_t bytes = shown ? step : 1;
        if (used + bytes >= TEXT_BYTES)
            break;
        if (shown)
            memcpy(out + used, text + at, bytes);
        else
            out[used] = '?';
        used += bytes;
        at += step;
    }
    out[used] = '\0';
    return used;
}

static size_t append_text(char *out, size_t used, const char *text)
{
    return append(out, used, text, strlen(text));
}

/* The subject in at most room bytes, by leaving out its beginning. */
static size_t append_subject(char *out, const char *subject, size_t room)
{
    size_t length = strlen(subject);
    if (length <= room)
        return append(out, 0, subject, length);
    size_t used = append_text(out, 0, "...");
    size_t skip = length - (room - used);
    while ((subject[skip] & 0xc0) == 0x80) /* not in the middle of a character */
        skip++;
    return append(out, used, subject + skip, length - skip);
}

static void set(struct error *error, const char *subject, const char *reason, const char *words)
{
    char line[TEXT_BYTES] = ""; /* apart: subject and arguments may lie in error->text */
    size_t used = 0;
    if (subject) {
        size_t rest = strlen(reason) + strlen(words) + 2 * strlen(": ") + 1;
        size_t room =
            rest < TEXT_BYTES - SUBJECT_LEAST_BYTES ? TEXT_BYTES - rest : SUBJECT_LEAST_BYTES;
        used = append_subject(line, subject, room);
    }
    if (reason[0]) {
        used = append_text(line, used, used > 0 ? ": " : "");
        used = append_text(line, used, reason);
    }
    if (words[0]) {
        used = append_text(line, used, used > 0 ? ": " : "");
        append_text(line, used, words);
    }
    memcpy(error->text, line, sizeof(line));
}

void error_set(struct error *error, const char *subject, const char *format, ...)
{
    if (!error)
        return;
    int saved_errno = errno;
    char reason[TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof(reason), format, arguments);
    va_end(arguments);
    set(error, subject, reason, "");
    errno = saved_errno;
}

void error_set_errno(struct error *error, const char *subject, int errno_value, const char *format,
                     ...)
{
    if (!error)
        return;
    int saved_errno = errno;
    char reason[TEXT_BYTES];
    char words[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof(reason), format, arguments);
    va_end(arguments);
    set(error, subject, reason, strerror_r(errno_value, words, sizeof(words)));
    errno = saved_errno;
}
