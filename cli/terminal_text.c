/* terminal_text.c: text from files on a terminal, without letting it command the terminal.
 *
 * Dangerous are C0 and C1 controls (escape sequences begin with one), and the directional
 * formatting characters ("Trojan Source", CVE-2021-42574). */
#include "cli/terminal_text.h"

#include "proto/utf8.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint32_t decode(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    uint32_t character = length == 1 ? bytes[0] : bytes[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++)
        character = character << 6 | (bytes[i] & 0x3f);
    return character;
}

static bool is_dangerous(uint32_t character)
{
    return character < 0x20 || (character >= 0x7f && character <= 0x9f) || character == 0x61c ||
           character == 0x200e || character == 0x200f ||
           (character >= 0x2028 && character <= 0x202e) ||
           (character >= 0x2066 && character <= 0x2069);
}

static void write_escape(uint32_t character, FILE *stream)
{
    if (character == '\n')
        fputs("\\n", stream);
    else if (character == '\t')
        fputs("\\t", stream);
    else if (character == '\r')
        fputs("\\r", stream);
    else
        fprintf(stream, character < 0x100 ? "\\x%02x" : "\\u%04x", character);
}

static void write_safe(const char *text, bool lines, FILE *stream)
{
    size_t left = strlen(text);
    while (left > 0) {
        bool valid;
        size_t length = utf8_step(text, left, &valid);
        uint32_t character = valid ? decode(text, length) : 0xfffd;
        bool keep = lines && (character == '\n' || character == '\t');
        if (!valid)
            fputs("\xef\xbf\xbd", stream);
        else if (is_dangerous(character) && !keep)
            write_escape(character, stream);
        else
            fwrite(text, 1, length, stream);
        text += length;
        left -= length;
    }
}

void terminal_text_write(const char *text, FILE *stream)
{
    write_safe(text, false, stream);
}

void terminal_text_write_lines(const char *text, FILE *stream)
{
    write_safe(text, true, stream);
}
