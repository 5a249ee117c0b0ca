/* text_chart.c: small pictures of numbers, in letters. */
#include "cli/text_chart.h"

#include <langinfo.h>
#include <locale.h>
#include <string.h>

enum { STEPS = 8 }; /* of one letter */

/* By eighths, 0 to 8. */
static const char *const from_left[] = {" ",      "\u258f", "\u258e", "\u258d", "\u258c",
                                        "\u258b", "\u258a", "\u2589", "\u2588"};
static const char *const from_below[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                         "\u2585", "\u2586", "\u2587", "\u2588"};

enum chart_style chart_style_of_locale(void)
{
    enum chart_style style = CHART_ASCII;
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (locale == (locale_t)0)
        return style;
    if (strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0)
        style = CHART_BLOCKS;
    freelocale(locale);
    return style;
}

/* value of most in steps of which all are most; at least one, unless value is 0. */
static unsigned steps_of(uint64_t value, uint64_t most, unsigned all)
{
    if (value == 0 || most == 0)
        return 0;
    if (value >= most)
        return all;
    unsigned steps = (unsigned)((double)value / (double)most * all + 0.5);
    return steps > 0 ? steps : 1;
}

unsigned chart_bar(uint64_t value, uint64_t most, unsigned columns, enum chart_style style,
                   FILE *stream)
{
    unsigned fine = style == CHART_BLOCKS ? STEPS : 1;
    unsigned steps = steps_of(value, most, columns * fine);
    for (unsigned i = 0; i < steps / fine; i++)
        fputs(style == CHART_BLOCKS ? from_left[STEPS] : "#", stream);
    if (steps % fine == 0)
        return steps / fine;
    fputs(from_left[steps % fine], stream);
    return steps / fine + 1;
}

/* What a column of value shows in a row: the letter. */
static const char *letter_in_row(uint64_t value, uint64_t most, unsigned row, unsigned height,
                                 enum chart_style style)
{
    unsigned fine = style == CHART_BLOCKS ? STEPS : 1;
    unsigned steps = steps_of(value, most, height * fine);
    unsigned below = (height - 1 - row) * fine; /* steps under this row */
    if (steps <= below)
        return " ";
    if (style == CHART_ASCII)
        return "#";
    return from_below[steps - below < STEPS ? steps - below : STEPS];
}

void chart_columns_row(const uint64_t *values, size_t count, uint64_t most, unsigned row,
                       unsigned height, enum chart_style style, FILE *stream)
{
    size_t spaces = 0;
    for (size_t i = 0; i < count; i++) {
        const char *letter = letter_in_row(values[i], most, row, height, style);
        if (letter[0] == ' ') {
            spaces++;
            continue;
        }
        for (; spaces > 0; spaces--)
            fputc(' ', stream);
        fputs(letter, stream);
    }
}
