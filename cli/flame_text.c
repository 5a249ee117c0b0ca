/* flame_text.c: names as they may stand in an SVG, whole or cut to fit.
 *
 * One decoder feeds everything: it gives characters that XML 1.0 allows (section 2.2, production
 * Char) and nothing else, so what writes them only has to escape the five with a meaning. Decoding
 * is strict (RFC 3629): overlong forms and surrogates are invalid, each bad byte is one U+FFFD. */
#include "cli/flame_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define REPLACEMENT 0xfffdu
#define ELLIPSIS "\xe2\x80\xa6"

/* How much of a long name's beginning and end are kept, in bytes. */
#define LONG_HEAD 6144u
#define LONG_TAIL 1536u

/* The length of the valid UTF-8 sequence at bytes (NUL-terminated), with its code point; 0 when
 * there is none. A NUL is never a continuation byte, so nothing behind it is read. */
static size_t decode_sequence(const unsigned char *bytes, uint32_t *point)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t more = 0; more < sizeof forms / sizeof forms[0]; more++) {
        if ((bytes[0] & forms[more].mask) != forms[more].lead)
            continue;
        *point = bytes[0] & (unsigned char)~forms[more].mask;
        for (size_t i = 1; i <= more; i++) {
            if ((bytes[i] & 0xc0) != 0x80)
                return 0;
            *point = *point << 6 | (bytes[i] & 0x3fu);
        }
        bool surrogate = *point >= 0xd800 && *point <= 0xdfff;
        return *point < forms[more].least || *point > 0x10ffff || surrogate ? 0 : more + 1;
    }
    return 0;
}

static bool is_control(uint32_t point)
{
    return point < 0x20 || point == 0x7f;
}

/* What stands for a code point: itself where it is harmless or can be escaped. */
static uint32_t safe_point(uint32_t point)
{
    bool c1 = point >= 0x80 && point < 0xa0;
    bool bidi = point == 0x061c || point == 0x200e || point == 0x200f ||
                (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
    bool separator = point == 0x2028 || point == 0x2029;
    bool noncharacter = (point & 0xfffe) == 0xfffe || (point >= 0xfdd0 && point <= 0xfdef);
    return c1 || bidi || separator || noncharacter ? REPLACEMENT : point;
}

/* The next character of text, which must not be at its end; moves text behind it. */
static uint32_t next_point(const char **text)
{
    uint32_t point;
    size_t length = decode_sequence((const unsigned char *)*text, &point);
    *text += length > 0 ? length : 1;
    return length > 0 ? safe_point(point) : REPLACEMENT;
}

/* The letter that C has for a control character, 0 when it has none. */
static char escape_letter(uint32_t point)
{
    return point == '\n' ? 'n' : point == '\t' ? 't' : point == '\r' ? 'r' : '\0';
}

static void put_control(FILE *stream, uint32_t point)
{
    if (escape_letter(point) != '\0')
        fprintf(stream, "\\%c", escape_letter(point));
    else
        fprintf(stream, "\\x%02x", point);
}

static void put_point(FILE *stream, uint32_t point)
{
    switch (point) {
    case '&':
        fputs("&amp;", stream);
        return;
    case '<':
        fputs("&lt;", stream);
        return;
    case '>':
        fputs("&gt;", stream);
        return;
    case '"':
        fputs("&quot;", stream);
        return;
    case '\'':
        fputs("&#39;", stream);
        return;
    default:
        break;
    }
    if (is_control(point)) {
        put_control(stream, point);
    } else if (point < 0x80) {
        fputc((int)point, stream);
    } else if (point < 0x800) {
        fputc((int)(0xc0 | point >> 6), stream);
        fputc((int)(0x80 | (point & 0x3f)), stream);
    } else if (point < 0x10000) {
        fputc((int)(0xe0 | point >> 12), stream);
        fputc((int)(0x80 | (point >> 6 & 0x3f)), stream);
        fputc((int)(0x80 | (point & 0x3f)), stream);
    } else {
        fputc((int)(0xf0 | point >> 18), stream);
        fputc((int)(0x80 | (point >> 12 & 0x3f)), stream);
        fputc((int)(0x80 | (point >> 6 & 0x3f)), stream);
        fputc((int)(0x80 | (point & 0x3f)), stream);
    }
}

static void write_until(FILE *stream, const char *text, const char *end)
{
    while (text < end)
        put_point(stream, next_point(&text));
}

/* The start of the character that the byte at text[offset] belongs to. */
static size_t character_start(const char *text, size_t offset)
{
    size_t back = 0;
    while (back < 3 && back < offset && ((unsigned char)text[offset - back] & 0xc0) == 0x80)
        back++;
    return offset - back;
}

void flame_text_write(FILE *stream, const char *text)
{
    size_t length = strlen(text);
    if (length <= FLAME_TEXT_LONGEST) {
        write_until(stream, text, text + length);
        return;
    }
    size_t head = character_start(text, LONG_HEAD);
    size_t tail = character_start(text, length - LONG_TAIL);
    write_until(stream, text, text + head);
    fprintf(stream, " " ELLIPSIS " %zu bytes left out " ELLIPSIS " ", tail - head);
    write_until(stream, text + tail, text + length);
}

/* Columns of a character in a fixed-width font: 2 for East Asian wide ones and emoji. Rough on
 * purpose: a wrong guess costs a clipped letter in a picture without scripts. */
static size_t point_columns(uint32_t point)
{
    static const struct {
        uint32_t first, last;
    } wide[] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
    if (is_control(point))
        return escape_letter(point) != '\0' ? 2 : 4;
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
        if (point >= wide[i].first && point <= wide[i].last)
            return 2;
    return 1;
}

/* The end of the longest beginning of text that fits columns; *whole tells whether that is all. */
static const char *fitting_end(const char *text, size_t columns, bool *whole)
{
    size_t used = 0;
    const char *end = text;
    while (*end != '\0') {
        const char *next = end;
        used += point_columns(next_point(&next));
        if (used > columns)
            break;
        end = next;
    }
    *whole = *end == '\0';
    return end;
}

size_t flame_text_base(const char *name)
{
    size_t base = 0;
    size_t depth = 0;
    for (size_t i = 0; name[i] != '\0'; i++) {
        if (strchr("(<[{", name[i]) != NULL)
            depth++;
        else if (strchr(")>]}", name[i]) != NULL)
            depth -= depth > 0;
        else if (depth == 0 && name[i + 1] != '\0' &&
                 (name[i] == '/' || (name[i] == ':' && i > 0 && name[i - 1] == ':')))
            base = i + 1;
    }
    return base;
}

void flame_text_write_label(FILE *stream, const char *name, size_t columns)
{
    bool whole;
    const char *end = fitting_end(name, columns, &whole);
    if (whole && columns >= 2) {
        write_until(stream, name, end);
        return;
    }
    if (columns < 3)
        return;
    const char *base = name + flame_text_base(name);
    end = fitting_end(base, columns - 1, &whole);
    if (base > name && whole) {
        fputs(ELLIPSIS, stream);
        write_until(stream, base, end);
    } else {
        write_until(stream, base, end);
        fputs(ELLIPSIS, stream);
    }
}
