/* option.c: parses a command line by the command's table.
 *
 * One pass over argv: options set fields, operands are put aside and moved behind the options at
 * the end, so the command sees them in one row. What --help prints is in option_help.c. Not
 * getopt_long: it prints its own messages, and a row here has to know the kind of its value. */
#include "cli/option.h"

#include "cli/spelling.h"
#include "proto/arena.h"
#include "proto/error.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a parse is; argument is the next element of argv to look at. */
struct parse {
    const struct command *command;
    void *options;
    struct error *error;
    char **argv;
    int argc;
    int argument;
};

static bool parse_decimal(const char *text, const char **end, uint64_t *value)
{
    const char *digit = text;
    uint64_t result = 0;
    for (; *digit >= '0' && *digit <= '9'; digit++)
        if (__builtin_mul_overflow(result, 10u, &result) ||
            __builtin_add_overflow(result, (uint64_t)(*digit - '0'), &result))
            return false;
    *end = digit;
    *value = result;
    return digit != text;
}

static unsigned size_shift(char suffix)
{
    static const char suffixes[] = "kmg";
    const char *found = suffix != '\0' ? strchr(suffixes, suffix | 0x20) : NULL;
    return found != NULL ? 10 * (unsigned)(found - suffixes + 1) : 0;
}

/* The bytes that the digits behind the point stand for: each digit's share is rounded down. Nine
 * digits settle a byte within 1 GiB, so more are only checked for being digits. */
static bool parse_point_digits(const char *text, const char **end, unsigned *count, uint64_t *value)
{
    const char *digit = text;
    *value = 0;
    *count = 0;
    for (; *digit >= '0' && *digit <= '9'; digit++)
        if (*count < 9) {
            *value = *value * 10 + (uint64_t)(*digit - '0');
            ++*count;
        }
    *end = digit;
    return digit != text;
}

bool option_size(const char *text, uint64_t *bytes)
{
    uint64_t whole, fraction = 0;
    unsigned fraction_digits = 0;
    const char *end;

    if (!parse_decimal(text, &end, &whole))
        return false;
    bool has_point = *end == '.';
    if (has_point && !parse_point_digits(end + 1, &end, &fraction_digits, &fraction))
        return false;
    unsigned shift = size_shift(*end);
    if (shift > 0)
        end++;
    if (*end != '\0' || (has_point && shift == 0))
        return false;
    /* fraction is below 2^30 and shift at most 30: this cannot overflow. */
    uint64_t part = fraction << shift;
    for (unsigned i = 0; i < fraction_digits; i++)
        part /= 10;
    return !__builtin_mul_overflow(whole, (uint64_t)1 << shift, &whole) &&
           !__builtin_add_overflow(whole, part, bytes);
}

/* Nanoseconds in the unit called name; 0 when there is no such unit. */
static uint64_t duration_unit(const char *name)
{
    static const struct {
        const char *name;
        uint64_t nanoseconds;
    } units[] = {{"ns", 1},
                 {"us", 1000},
                 {"ms", 1000000},
                 {"s", 1000000000ull},
                 {"m", 60000000000ull},
                 {"h", 3600000000000ull}};
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (strcmp(name, units[i].name) == 0)
            return units[i].nanoseconds;
    return 0;
}

bool option_duration(const char *text, uint64_t *nanoseconds)
{
    uint64_t whole, fraction = 0;
    unsigned fraction_digits = 0;
    const char *end;
    if (!parse_decimal(text, &end, &whole))
        return false;
    if (*end == '.' && !parse_point_digits(end + 1, &end, &fraction_digits, &fraction))
        return false;
    uint64_t unit = whole == 0 && fraction == 0 && *end == '\0' ? 1 : duration_unit(end);
    if (unit == 0)
        return false;
    unsigned __int128 part = (unsigned __int128)fraction * unit;
    for (unsigned i = 0; i < fraction_digits; i++)
        part /= 10;
    return !__builtin_mul_overflow(whole, unit, &whole) &&
           !__builtin_add_overflow(whole, (uint64_t)part, nanoseconds);
}

static bool parse_number(const char *text, uint64_t *number)
{
    const char *end;
    return parse_decimal(text, &end, number) && *end == '\0';
}

static bool parse_fraction(const char *text, double *fraction)
{
    char *end;
    /* strtod alone would take blanks, "inf" and hexadecimal numbers as well. */
    if (text[0] == '\0' || strspn(text, "0123456789.eE+-") != strlen(text))
        return false;
    double value = strtod(text, &end);
    if (*end != '\0' || isnan(value) || value < 0 || value > 1)
        return false;
    *fraction = value;
    return true;
}

static const char *parse_choice(const char *const *choices, const char *text)
{
    for (; *choices != NULL; choices++)
        if (strcmp(*choices, text) == 0)
            return *choices;
    return NULL;
}

/* "pprof, folded or svg" */
static void list_choices(const char *const *choices, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; choices[i] != NULL && used < size; i++) {
        const char *separator = i == 0 ? "" : choices[i + 1] == NULL ? " or " : ", ";
        int printed = snprintf(text + used, size - used, "%s%s", separator, choices[i]);
        used += printed > 0 ? (size_t)printed : 0;
    }
}

static void refuse_value(struct parse *parse, const struct option_row *row, const char *text)
{
    static const char *const wanted[] = {
        [OPTION_SIZE] = "bytes, with an optional K, M or G",
        [OPTION_DURATION] = "a time with its unit (ns, us, ms, s, m or h)",
        [OPTION_NUMBER] = "a whole number",
        [OPTION_FRACTION] = "a number from 0 to 1",
    };
    char choices[256];
    if (row->kind == OPTION_CHOICE)
        list_choices(row->choices, choices, sizeof(choices));
    error_set(parse->error, parse->command->name, "--%s takes %s, not '%s'", row->name,
              row->kind == OPTION_CHOICE ? choices : wanted[row->kind], text);
}

static bool set_value(struct parse *parse, const struct option_row *row, const char *text)
{
    void *field = (char *)parse->options + row->offset;
    bool ok = true;
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        break;
    case OPTION_TEXT:
        *(const char **)field = text;
        break;
    case OPTION_SIZE:
        ok = option_size(text, field);
        break;
    case OPTION_DURATION:
        ok = option_duration(text, field);
        break;
    case OPTION_NUMBER:
        ok = parse_number(text, field);
        break;
    case OPTION_FRACTION:
        ok = parse_fraction(text, field);
        break;
    case OPTION_CHOICE: {
        const char *choice = parse_choice(row->choices, text);
        ok = choice != NULL;
        if (ok)
            *(const char **)field = choice;
        break;
    }
    }
    if (!ok)
        refuse_value(parse, row, text);
    return ok;
}

/* Sets row to attached, or where that is NULL to the next argument. */
static bool take_value(struct parse *parse, const struct option_row *row, const char *attached)
{
    if (attached != NULL)
        return set_value(parse, row, attached);
    if (parse->argument >= parse->argc) {
        error_set(parse->error, parse->command->name, "--%s needs a value: --%s %s", row->name,
                  row->name, row->argument);
        return false;
    }
    return set_value(parse, row, parse->argv[parse->argument++]);
}

static const struct option_row *find_long(const struct option_row *rows, const char *name,
                                          size_t length)
{
    for (; rows->name != NULL; rows++)
        if (strncmp(rows->name, name, length) == 0 && rows->name[length] == '\0')
            return rows;
    return NULL;
}

static const struct option_row *find_letter(const struct option_row *rows, char letter)
{
    for (; rows->name != NULL; rows++)
        if (rows->letter == letter)
            return rows;
    return NULL;
}

static void refuse_long(struct parse *parse, const char *name, size_t length)
{
    char word[64];
    struct spelling spelling;
    snprintf(word, sizeof(word), "%.*s", (int)(length < sizeof(word) ? length : sizeof(word) - 1),
             name);
    spelling_init(&spelling, word);
    for (const struct option_row *row = parse->command->rows; row->name != NULL; row++)
        spelling_offer(&spelling, row->name);
    spelling_offer(&spelling, "help");
    spelling_offer(&spelling, "version");
    if (spelling.best != NULL)
        error_set(parse->error, parse->command->name, "unknown option --%s, did you mean --%s?",
                  word, spelling.best);
    else
        error_set(parse->error, parse->command->name,
                  "unknown option --%s, try 'heapprof %s --help'", word, parse->command->name);
}

static bool is_named(const char *name, size_t length, const char *wanted)
{
    return strlen(wanted) == length && memcmp(name, wanted, length) == 0;
}

/* "--name" or "--name=value"; text points behind the dashes. */
static enum option_outcome parse_long(struct parse *parse, const char *text)
{
    size_t length = strcspn(text, "=");
    const char *attached = text[length] == '=' ? text + length + 1 : NULL;
    const struct option_row *row = find_long(parse->command->rows, text, length);
    if (row == NULL && attached == NULL && is_named(text, length, "help")) {
        option_print_help(parse->command);
        return OPTION_HELP;
    }
    if (row == NULL && attached == NULL && is_named(text, length, "version")) {
        option_print_version();
        return OPTION_HELP;
    }
    if (row == NULL) {
        refuse_long(parse, text, length);
        return OPTION_USAGE;
    }
    if (row->kind != OPTION_FLAG)
        return take_value(parse, row, attached) ? OPTION_OK : OPTION_USAGE;
    if (attached != NULL) {
        error_set(parse->error, parse->command->name, "--%s takes no value", row->name);
        return OPTION_USAGE;
    }
    set_value(parse, row, NULL);
    return OPTION_OK;
}

/* "-abc", "-n30", "-n 30"; letters points behind the dash. */
static enum option_outcome parse_letters(struct parse *parse, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        const struct option_row *row = find_letter(parse->command->rows, *letters);
        if (row == NULL && *letters == 'h') {
            option_print_help(parse->command);
            return OPTION_HELP;
        }
        if (row == NULL) {
            error_set(parse->error, parse->command->name,
                      "unknown option -%c, try 'heapprof %s --help'", *letters,
                      parse->command->name);
            return OPTION_USAGE;
        }
        if (row->kind != OPTION_FLAG)
            return take_value(parse, row, letters[1] != '\0' ? letters + 1 : NULL) ? OPTION_OK
                                                                                   : OPTION_USAGE;
        set_value(parse, row, NULL);
    }
    return OPTION_OK;
}

/* Moves operands behind what is left of argv[1..argc), in their order. */
static int place_operands(int argc, char **argv, char **operands, int operand_count)
{
    int first = argc - operand_count;
    for (int i = 0; i < operand_count; i++)
        argv[first + i] = operands[i];
    return first;
}

static enum option_outcome parse_all(struct parse *parse, char **operands, int *operand_count)
{
    enum option_outcome outcome = OPTION_OK;
    bool only_operands = false;
    while (outcome == OPTION_OK && parse->argument < parse->argc) {
        char *text = parse->argv[parse->argument++];
        if (only_operands || text[0] != '-' || text[1] == '\0') {
            operands[(*operand_count)++] = text;
            only_operands = only_operands || parse->command->stops_at_operand;
        } else if (strcmp(text, "--") == 0) {
            only_operands = true;
        } else if (text[1] == '-') {
            outcome = parse_long(parse, text + 2);
        } else {
            outcome = parse_letters(parse, text + 1);
        }
    }
    return outcome;
}

enum option_outcome option_parse(const struct command *command, int argc, char **argv,
                                 void *options, int *first_operand, struct error *error)
{
    struct parse parse = {
        .command = command,
        .options = options,
        .error = error,
        .argv = argv,
        .argc = argc,
        .argument = 1,
    };
    int operand_count = 0;
    char **operands = heap_alloc(((size_t)argc + 1) * sizeof(*operands));
    enum option_outcome outcome = parse_all(&parse, operands, &operand_count);
    if (outcome == OPTION_OK)
        *first_operand = place_operands(argc, argv, operands, operand_count);
    free(operands);
    return outcome;
}
