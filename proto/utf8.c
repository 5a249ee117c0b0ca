/* utf8.c: well-formed UTF-8, by the table of the Unicode Standard.
 *
 * Names in a profile come from symbol tables and file systems, which hold any bytes; readers of
 * profiles and of SVG reject whole files for one bad byte. So text is made well-formed once, on
 * entry. No normalisation, no case, no width: bytes only. */
#include "proto/utf8.h"

#include <string.h>

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

size_t utf8_step(const char *text, size_t length, bool *valid)
{
    const unsigned char *bytes = (const unsigned char *)text;
    unsigned char lead = bytes[0];
    *valid = lead > 0 && lead < 0x80;
    if (lead < 0xc2 || lead > 0xf4)
        return 1;
    /* The second byte's range is narrower after some leads: no overlong forms, no surrogates,
     * nothing above U+10FFFF. */
    unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    size_t character = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    for (size_t at = 1; at < character; at++) {
        if (at >= length || bytes[at] < low || bytes[at] > high)
            return at;
        low = 0x80;
        high = 0xbf;
    }
    *valid = true;
    return character;
}

bool utf8_valid(const char *text, size_t length)
{
    bool valid = true;
    for (size_t at = 0; at < length && valid;)
        at += utf8_step(text + at, length - at, &valid);
    return valid;
}

size_t utf8_sanitize(char *out, const char *text, size_t length)
{
    size_t written = 0;
    for (size_t at = 0; at < length;) {
        bool valid;
        size_t step = utf8_step(text + at, length - at, &valid);
        const char *source = valid ? text + at : replacement;
        size_t bytes = valid ? step : sizeof(replacement) - 1;
        memcpy(out + written, source, bytes);
        written += bytes;
        at += step;
    }
    return written;
}
