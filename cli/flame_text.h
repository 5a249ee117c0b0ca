/* flame_text.h: names as they may stand in an SVG, whole or cut to fit.
 *
 * Names come from programs and are hostile: whatever they hold, the text is well-formed XML 1.0 and
 * cannot end the element it stands in. Control characters are written as in C ("\n", "\x1b", in any
 * font), invalid UTF-8, what else XML does not allow and characters that turn the direction of
 * writing become U+FFFD. Pure functions but for the stream; any thread. */
#ifndef HEAPPROF_CLI_FLAME_TEXT_H
#define HEAPPROF_CLI_FLAME_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Longest name written whole, in bytes; of a longer one the middle is left out, and the text says
 * how much. */
#define FLAME_TEXT_LONGEST 8192u

/* Writes text to stream, made safe and escaped. Errors are left to the stream. */
void flame_text_write(FILE *stream, const char *text);

/* Writes the label of a frame: as much of name as fits columns columns of a fixed-width font,
 * cut with an ellipsis; nothing when not even two characters of the name fit. A name that is too
 * long loses its qualifiers first ("a::b::f" becomes "\u2026f": U+2026 in place of "a::b::"), then
 * its end. share/flame.js (fit) does the same. */
void flame_text_write_label(FILE *stream, const char *name, size_t columns);

/* Byte offset of the last component of a qualified name: behind the last "::" outside brackets, or
 * behind the last "/" of a path; 0 when there is no qualifier. */
size_t flame_text_base(const char *name);

#endif
