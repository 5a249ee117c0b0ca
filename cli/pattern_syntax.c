/* pattern_syntax.c: a regular expression as a tree, by recursive descent.
 *
 * Groups nest at most NESTING_LIMIT deep, all else is a loop. What Go's regexp refuses is
 * refused here: a repetition of nothing or of a repetition, a back reference, an unknown escape.
 * Source: https://github.com/google/re2/wiki/Syntax */
#include "cli/pattern_syntax.h"

#include "proto/arena.h"

#include <stdbool.h>
#include <string.h>

#define NESTING_LIMIT 500
#define LENGTH_LIMIT 65536 /* in bytes: the tree is some hundred times that */

struct flags {
    bool ignore_case; /* i */
    bool lines;       /* m: ^ and $ also at line ends */
    bool dot_all;     /* s: "." also matches \n */
};

struct parser {
    const char *at;
    struct arena *arena;
    struct flags flags; /* of the group being read */
    unsigned depth;
    bool failed;
};

static struct pattern_node *node_new(struct parser *parser, enum pattern_kind kind)
{
    struct pattern_node *node = arena_alloc(parser->arena, sizeof(*node));
    node->kind = kind;
    return node;
}

static struct pattern_node *fail(struct parser *parser)
{
    parser->failed = true;
    return NULL;
}

static struct pattern_node *class_node(struct parser *parser, const struct pattern_class *set)
{
    struct pattern_node *node = node_new(parser, PATTERN_CLASS);
    node->ranges = set->ranges;
    node->range_count = set->count;
    return node;
}

static struct pattern_node *character_node(struct parser *parser, uint32_t character)
{
    struct pattern_class set = {.arena = parser->arena};
    pattern_class_add(&set, character, character, parser->flags.ignore_case);
    return class_node(parser, &set);
}

static struct pattern_node *any_node(struct parser *parser)
{
    struct pattern_class set = {.arena = parser->arena};
    if (!parser->flags.dot_all)
        pattern_class_add(&set, '\n', '\n', false);
    pattern_class_negate(&set);
    return class_node(parser, &set);
}

static struct pattern_node *assertion_node(struct parser *parser, enum pattern_assertion assertion)
{
    struct pattern_node *node = node_new(parser, PATTERN_ASSERT);
    node->assertion = assertion;
    return node;
}

/* The next character of the pattern, which is not at its end. */
static uint32_t take_character(struct parser *parser)
{
    unsigned char lead = (unsigned char)*parser->at++;
    unsigned more = lead < 0xc0 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    uint32_t character = more == 0 ? lead : lead & (0x3fu >> more);
    for (; more > 0 && ((unsigned char)*parser->at & 0xc0) == 0x80; more--)
        character = character << 6 | ((unsigned char)*parser->at++ & 0x3f);
    return character;
}

static int digit_value(char digit, int base)
{
    int value = digit >= '0' && digit <= '9'   ? digit - '0'
                : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                               : base;
    return value < base ? value : -1;
}

/* Up to most digits in base; stops at a character number too large. How many is returned. */
static int take_digits(struct parser *parser, int base, int most, uint32_t *value)
{
    int count = 0;
    *value = 0;
    for (; count < most && *value <= PATTERN_LAST_CHARACTER; count++) {
        int digit = digit_value(*parser->at, base);
        if (digit < 0)
            break;
        *value = *value * (uint32_t)base + (uint32_t)digit;
        parser->at++;
    }
    return count;
}

/* What follows "\x". */
static bool take_hexadecimal(struct parser *parser, uint32_t *character)
{
    if (*parser->at != '{')
        return take_digits(parser, 16, 2, character) == 2;
    parser->at++;
    return take_digits(parser, 16, 64, character) > 0 && *parser->at++ == '}' &&
           *character <= PATTERN_LAST_CHARACTER;
}

/* What follows a backslash, where it stands for one character. */
static bool take_escaped(struct parser *parser, uint32_t *character)
{
    static const char letters[] = "afnrtv";
    static const char meanings[] = "\a\f\n\r\t\v";
    char escape = *parser->at;
    if (escape == '\0')
        return false;
    const char *letter = strchr(letters, escape);
    parser->at++;
    if (letter != NULL) {
        *character = (unsigned char)meanings[letter - letters];
        return true;
    }
    if (escape == 'x')
        return take_hexadecimal(parser, character);
    if (escape >= '0' && escape <= '7') {
        /* One digit alone, but for 0, would be a back reference. */
        if (escape != '0' && digit_value(*parser->at, 8) < 0)
            return false;
        parser->at--;
        return take_digits(parser, 8, 3, character) > 0;
    }
    *character = (unsigned char)escape;
    return (unsigned char)escape < 0x80 && digit_value(escape, 10) < 0 &&
           !((escape | 0x20) >= 'a' && (escape | 0x20) <= 'z');
}

static bool take_class_character(struct parser *parser, uint32_t *character)
{
    if (*parser->at == '\0')
        return false;
    if (*parser->at == '\\') {
        parser->at++;
        return take_escaped(parser, character);
    }
    *character = take_character(parser);
    return true;
}

/* One element between [ and ]: a named class, a letter class, a character or a range. */
static bool take_class_element(struct parser *parser, struct pattern_class *set)
{
    uint32_t first, last;
    const char *end;
    if (parser->at[0] == '[' && parser->at[1] == ':' &&
        (end = strstr(parser->at + 2, ":]")) != NULL) {
        const char *name = parser->at + 2;
        parser->at = end + 2;
        return pattern_class_add_named(set, name, (size_t)(end - name), parser->flags.ignore_case);
    }
    if (parser->at[0] == '\\' && parser->at[1] != '\0' &&
        pattern_class_add_letter(set, parser->at[1])) {
        parser->at += 2;
        return true;
    }
    if (!take_class_character(parser, &first))
        return false;
    last = first;
    if (parser->at[0] == '-' && parser->at[1] != ']' && parser->at[1] != '\0') {
        parser->at++;
        if (!take_class_character(parser, &last) || last < first)
            return false;
    }
    pattern_class_add(set, first, last, parser->flags.ignore_case);
    return true;
}

/* What follows "[". A "]" that comes first is a member. */
static struct pattern_node *parse_class(struct parser *parser)
{
    struct pattern_class set = {.arena = parser->arena};
    bool negated = *parser->at == '^';
    parser->at += negated;
    do {
        if (!take_class_element(parser, &set))
            return fail(parser);
    } while (*parser->at != ']' && *parser->at != '\0');
    if (*parser->at++ != ']')
        return fail(parser);
    if (negated)
        pattern_class_negate(&set);
    return class_node(parser, &set);
}

/* What follows a backslash outside of classes. */
static struct pattern_node *parse_escape(struct parser *parser)
{
    static const char letters[] = "AzbB";
    static const enum pattern_assertion assertions[] = {PATTERN_TEXT_BEGIN, PATTERN_TEXT_END,
                                                        PATTERN_WORD_EDGE, PATTERN_NO_WORD_EDGE};
    struct pattern_class set = {.arena = parser->arena};
    uint32_t character;
    const char *letter = *parser->at != '\0' ? strchr(letters, *parser->at) : NULL;
    if (letter != NULL) {
        parser->at++;
        return assertion_node(parser, assertions[letter - letters]);
    }
    if (*parser->at != '\0' && pattern_class_add_letter(&set, *parser->at)) {
        parser->at++;
        return class_node(parser, &set);
    }
    return take_escaped(parser, &character) ? character_node(parser, character) : fail(parser);
}

/* Sets the flags named in a group's "i-s" up to its ":" or ")". */
static bool take_flags(struct parser *parser, struct flags *flags)
{
    bool on = true, any = false;
    for (; *parser->at != ':' && *parser->at != ')'; parser->at++) {
        switch (*parser->at) {
        case 'i':
            flags->ignore_case = on;
            break;
        case 'm':
            flags->lines = on;
            break;
        case 's':
            flags->dot_all = on;
            break;
        case 'U': /* which match is found: of no matter where only "matches" is asked */
            break;
        case '-':
            if (!on)
                return false;
            on = false;
            any = false;
            continue;
        default:
            return false;
        }
        any = true;
    }
    /* "(?-)" is none; "(?:" and "(?)" are. */
    return any || on;
}

/* What follows "(?P<". */
static bool skip_group_name(struct parser *parser)
{
    size_t length =
        strspn(parser->at, "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    parser->at += length;
    return length > 0 && *parser->at++ == '>';
}

static struct pattern_node *parse_alternatives(struct parser *parser);

static struct pattern_node *parse_group_body(struct parser *parser, struct flags outer)
{
    if (++parser->depth > NESTING_LIMIT)
        return fail(parser);
    struct pattern_node *node = parse_alternatives(parser);
    if (parser->failed || *parser->at != ')')
        return fail(parser);
    parser->at++;
    parser->depth--;
    parser->flags = outer;
    return node;
}

/* What follows "(". NULL without failing for "(?i)", which only sets flags for what follows. */
static struct pattern_node *parse_group(struct parser *parser)
{
    struct flags outer = parser->flags;
    if (*parser->at != '?')
        return parse_group_body(parser, outer);
    parser->at++;
    if (parser->at[0] == 'P' && parser->at[1] == '<') {
        parser->at += 2;
        return skip_group_name(parser) ? parse_group_body(parser, outer) : fail(parser);
    }
    struct flags inner = outer;
    if (!take_flags(parser, &inner))
        return fail(parser);
    parser->flags = inner;
    return *parser->at++ == ':' ? parse_group_body(parser, outer) : NULL;
}

static int take_count(struct parser *parser)
{
    int count = 0, digits = 0;
    for (; *parser->at >= '0' && *parser->at <= '9'; parser->at++, digits++)
        if (count <= PATTERN_REPEAT_LIMIT)
            count = count * 10 + (*parser->at - '0');
    return digits > 0 ? count : -1;
}

/* "{n}", "{n,}" or "{n,m}"; anything else is a literal "{", and nothing is taken. */
static bool take_counts(struct parser *parser, int *minimum, int *maximum)
{
    const char *start = parser->at++;
    *minimum = *maximum = take_count(parser);
    if (*minimum >= 0 && *parser->at == ',') {
        parser->at++;
        *maximum = *parser->at == '}' ? PATTERN_NO_MAXIMUM : take_count(parser);
        if (*maximum < 0 && *parser->at != '}')
            *minimum = -1;
    }
    if (*minimum >= 0 && *parser->at == '}') {
        parser->at++;
        return true;
    }
    parser->at = start;
    return false;
}

/* The repetition at the parser, if there is one. */
static bool take_repetition(struct parser *parser, int *minimum, int *maximum)
{
    switch (*parser->at) {
    case '*':
        *minimum = 0;
        *maximum = PATTERN_NO_MAXIMUM;
        break;
    case '+':
        *minimum = 1;
        *maximum = PATTERN_NO_MAXIMUM;
        break;
    case '?':
        *minimum = 0;
        *maximum = 1;
        break;
    case '{':
        if (!take_counts(parser, minimum, maximum))
            return false;
        parser->at--;
        break;
    default:
        return false;
    }
    parser->at++;
    if (*parser->at == '?') /* lazy: another match would be found, if any were asked for */
        parser->at++;
    return true;
}

static struct pattern_node *repeat_node(struct parser *parser, struct pattern_node *child,
                                        int minimum, int maximum)
{
    if (minimum > PATTERN_REPEAT_LIMIT || maximum > PATTERN_REPEAT_LIMIT ||
        (maximum != PATTERN_NO_MAXIMUM && minimum > maximum))
        return fail(parser);
    struct pattern_node *node = node_new(parser, PATTERN_REPEAT);
    node->minimum = minimum;
    node->maximum = maximum;
    node->child = child;
    return node;
}

/* One element: a character, a class, an assertion or a group. */
static struct pattern_node *parse_element(struct parser *parser)
{
    int minimum, maximum;
    switch (*parser->at) {
    case '(':
        parser->at++;
        return parse_group(parser);
    case '[':
        parser->at++;
        return parse_class(parser);
    case '\\':
        parser->at++;
        return parse_escape(parser);
    case '.':
        parser->at++;
        return any_node(parser);
    case '^':
        parser->at++;
        return assertion_node(parser,
                              parser->flags.lines ? PATTERN_LINE_BEGIN : PATTERN_TEXT_BEGIN);
    case '$':
        parser->at++;
        return assertion_node(parser, parser->flags.lines ? PATTERN_LINE_END : PATTERN_TEXT_END);
    case '*':
    case '+':
    case '?':
        return fail(parser); /* a repetition of nothing */
    case '{':
        if (take_repetition(parser, &minimum, &maximum))
            return fail(parser);
        return character_node(parser, take_character(parser));
    default:
        return character_node(parser, take_character(parser));
    }
}

/* A sequence under construction: link is where the next element goes, last where the last one
 * hangs (NULL while there is none that could be repeated). */
struct sequence {
    struct pattern_node *node;
    struct pattern_node **link;
    struct pattern_node **last;
    bool quoting; /* between \Q and \E */
};

static void sequence_add(struct sequence *sequence, struct pattern_node *node)
{
    *sequence->link = node;
    sequence->last = sequence->link;
    sequence->link = &node->next;
}

/* Repeats the last element. A second repetition of the same element is refused, as Go does. */
static void sequence_repeat(struct parser *parser, struct sequence *sequence, int minimum,
                            int maximum)
{
    int more_minimum, more_maximum;
    struct pattern_node *node = repeat_node(parser, *sequence->last, minimum, maximum);
    if (node == NULL)
        return;
    *sequence->last = node;
    sequence->link = &node->next;
    if (take_repetition(parser, &more_minimum, &more_maximum))
        fail(parser);
}

/* Between \Q and \E every character stands for itself. True when something was taken. */
static bool parse_quoted(struct parser *parser, struct sequence *sequence)
{
    if (!sequence->quoting && strncmp(parser->at, "\\Q", 2) == 0) {
        sequence->quoting = true;
        parser->at += 2;
        return true;
    }
    if (!sequence->quoting)
        return false;
    if (strncmp(parser->at, "\\E", 2) == 0) {
        sequence->quoting = false;
        parser->at += 2;
    } else {
        sequence_add(sequence, character_node(parser, take_character(parser)));
    }
    return true;
}

static struct pattern_node *parse_sequence(struct parser *parser)
{
    int minimum, maximum;
    struct sequence sequence = {.node = node_new(parser, PATTERN_SEQUENCE)};
    sequence.link = &sequence.node->child;
    while (!parser->failed && *parser->at != '\0') {
        if (parse_quoted(parser, &sequence))
            continue;
        if (*parser->at == '|' || *parser->at == ')')
            break;
        if (sequence.last != NULL && take_repetition(parser, &minimum, &maximum)) {
            sequence_repeat(parser, &sequence, minimum, maximum);
            continue;
        }
        struct pattern_node *node = parse_element(parser);
        if (node != NULL)
            sequence_add(&sequence, node);
    }
    return sequence.node;
}

static struct pattern_node *parse_alternatives(struct parser *parser)
{
    struct pattern_node *node = node_new(parser, PATTERN_ALTERNATE);
    struct pattern_node **link = &node->child;
    for (;;) {
        *link = parse_sequence(parser);
        if (parser->failed || *parser->at != '|')
            return node;
        link = &(*link)->next;
        parser->at++;
    }
}

struct pattern_node *pattern_parse(const char *text, struct arena *arena)
{
    struct parser parser = {.at = text, .arena = arena};
    if (strlen(text) > LENGTH_LIMIT)
        return NULL;
    struct pattern_node *node = parse_alternatives(&parser);
    return parser.failed || *parser.at != '\0' ? NULL : node;
}
