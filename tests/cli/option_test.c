/* option_test.c: command lines parsed by a command's table. */
#include "cli/option.h"
#include "proto/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

struct options {
    bool quiet, verbose;
    const char *output;
    const char *format;
    uint64_t rate;
    uint64_t count;
    double fraction;
};

#define TO(field) offsetof(struct options, field)

static const char *const formats[] = {"pprof", "folded", "svg", NULL};

static const struct option_row rows[] = {
    {'q', "quiet", NULL, OPTION_FLAG, TO(quiet), "say nothing", NULL},
    {'v', "verbose", NULL, OPTION_FLAG, TO(verbose), "say more", NULL},
    {'o', "output", "FILE", OPTION_TEXT, TO(output), "write to FILE", NULL},
    {0, "format", "NAME", OPTION_CHOICE, TO(format), "pprof, folded or svg", formats},
    {'r', "rate", "SIZE", OPTION_SIZE, TO(rate), "sample every SIZE", NULL},
    {'n', "count", "N", OPTION_NUMBER, TO(count), "show N", NULL},
    {0, "fraction", "F", OPTION_FRACTION, TO(fraction), "leave out less than F", NULL},
    {0},
};

static const struct command plain = {.name = "top", .operands = "FILE", .rows = rows};
static const struct command launcher = {
    .name = "run", .operands = "COMMAND", .rows = rows, .stops_at_operand = true};

#define ARGUMENTS_MOST 16

/* A parse of words separated by '|', and what came of it. */
struct parsed {
    char *text;
    char *argv[ARGUMENTS_MOST];
    int argc;
    struct options options;
    int operand;
    enum option_outcome outcome;
    struct error error;
};

static void parse(struct parsed *parsed, const struct command *command, const char *words)
{
    char *rest = NULL;
    memset(parsed, 0, sizeof(*parsed));
    parsed->text = strdup(words);
    parsed->argv[parsed->argc++] = (char *)command->name;
    for (char *word = strtok_r(parsed->text, "|", &rest); word != NULL;
         word = strtok_r(NULL, "|", &rest))
        parsed->argv[parsed->argc++] = word;
    parsed->outcome = option_parse(command, parsed->argc, parsed->argv, &parsed->options,
                                   &parsed->operand, &parsed->error);
}

static void all_ways_to_write_a_value_are_taken(void **state)
{
    (void)state;
    static const char *const ways[] = {"-o|x", "-ox", "--output|x", "--output=x", "-qox"};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct parsed parsed;
        parse(&parsed, &plain, ways[i]);
        assert_int_equal(parsed.outcome, OPTION_OK);
        assert_string_equal(parsed.options.output, "x");
        assert_int_equal(parsed.operand, parsed.argc);
        free(parsed.text);
    }
}

static void every_kind_of_value_reaches_its_field(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, &plain, "-qv|--format=svg|-r|512K|-n0|--fraction|0.25|--output=");
    assert_int_equal(parsed.outcome, OPTION_OK);
    assert_true(parsed.options.quiet && parsed.options.verbose);
    assert_string_equal(parsed.options.format, "svg");
    assert_int_equal(parsed.options.rate, 524288);
    assert_int_equal(parsed.options.count, 0);
    assert_true(parsed.options.fraction == 0.25);
    assert_string_equal(parsed.options.output, "");
    free(parsed.text);
}

static void operands_may_stand_between_options_and_keep_their_order(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, &plain, "a|-q|b|-o|x|-|--|-v");
    assert_int_equal(parsed.outcome, OPTION_OK);
    assert_int_equal(parsed.argc - parsed.operand, 4);
    assert_string_equal(parsed.argv[parsed.operand], "a");
    assert_string_equal(parsed.argv[parsed.operand + 1], "b");
    assert_string_equal(parsed.argv[parsed.operand + 2], "-");
    assert_string_equal(parsed.argv[parsed.operand + 3], "-v");
    assert_true(parsed.options.quiet);
    assert_false(parsed.options.verbose);
    free(parsed.text);
}

static void a_launcher_leaves_the_options_of_its_command_alone(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, &launcher, "-q|ls|-v|--output=x|--");
    assert_int_equal(parsed.outcome, OPTION_OK);
    assert_int_equal(parsed.argc - parsed.operand, 4);
    assert_string_equal(parsed.argv[parsed.operand], "ls");
    assert_string_equal(parsed.argv[parsed.operand + 3], "--");
    assert_false(parsed.options.verbose);
    free(parsed.text);
    parse(&parsed, &launcher, "-q|--|-v|x");
    assert_int_equal(parsed.argc - parsed.operand, 2);
    assert_string_equal(parsed.argv[parsed.operand], "-v");
    free(parsed.text);
}

static void assert_refused(const char *words, const char *message)
{
    struct parsed parsed;
    parse(&parsed, &plain, words);
    assert_int_equal(parsed.outcome, OPTION_USAGE);
    assert_string_equal(parsed.error.text, message);
    free(parsed.text);
}

static void what_is_wrong_is_said_in_one_line(void **state)
{
    (void)state;
    assert_refused("--quite", "top: unknown option --quite, did you mean --quiet?");
    assert_refused("--outptu=x", "top: unknown option --outptu, did you mean --output?");
    assert_refused("--halp", "top: unknown option --halp, did you mean --help?");
    assert_refused("--zzz", "top: unknown option --zzz, try 'heapprof top --help'");
    assert_refused("-x", "top: unknown option -x, try 'heapprof top --help'");
    assert_refused("-qx", "top: unknown option -x, try 'heapprof top --help'");
    assert_refused("-o", "top: --output needs a value: --output FILE");
    assert_refused("--rate", "top: --rate needs a value: --rate SIZE");
    assert_refused("--quiet=1", "top: --quiet takes no value");
    assert_refused("--rate=5X", "top: --rate takes bytes, with an optional K, M or G, not '5X'");
    assert_refused("-n|-1", "top: --count takes a whole number, not '-1'");
    assert_refused("-n|18446744073709551616",
                   "top: --count takes a whole number, not '18446744073709551616'");
    assert_refused("--fraction=2", "top: --fraction takes a number from 0 to 1, not '2'");
    assert_refused("--format=png", "top: --format takes pprof, folded or svg, not 'png'");
}

static void fractions_are_decimal_numbers_from_0_to_1(void **state)
{
    (void)state;
    static const char *const wrong[] = {"nan",  "inf", "0x1p-3", " 0.5", "-0.5",
                                        "1.01", "1e3", ".",      "0.5x", "--1"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct parsed parsed;
        char words[64] = "--fraction=";
        strcat(words, wrong[i]);
        parse(&parsed, &plain, words);
        assert_int_equal(parsed.outcome, OPTION_USAGE);
        free(parsed.text);
    }
    struct parsed parsed;
    parse(&parsed, &plain, "--fraction=5e-3");
    assert_int_equal(parsed.outcome, OPTION_OK);
    assert_true(parsed.options.fraction == 0.005);
    free(parsed.text);
}

static void assert_size(const char *text, uint64_t expected)
{
    uint64_t bytes = 1;
    assert_true(option_size(text, &bytes));
    assert_int_equal(bytes, expected);
}

static void sizes_take_suffixes_and_decimals(void **state)
{
    (void)state;
    assert_size("0", 0);
    assert_size("64", 64);
    assert_size("512K", 524288);
    assert_size("512k", 524288);
    assert_size("1.5M", 1572864);
    assert_size("2G", 2147483648);
    assert_size("0.3K", 307);
    assert_size("0.999999999999999999999999K", 1023);
    assert_size("18446744073709551615", UINT64_MAX);
    assert_size("17179869183G", 17179869183ull << 30);
}

static void durations_have_a_unit(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t nanoseconds;
    } good[] = {{"1ms", 1000000},  {"0", 0},    {"0.0", 0},           {"1.5s", 1500000000},
                {"250us", 250000}, {"7ns", 7},  {"2m", 120000000000}, {"0.25h", 900000000000},
                {"1.999999ns", 1}, {"0.5ns", 0}};
    static const char *const bad[] = {"",    "1",   "ms",       "1 ms", "1d",
                                      "-1s", "1e3", "5124096h", "1.ms", "1msx"};
    uint64_t nanoseconds;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(option_duration(good[i].text, &nanoseconds));
        assert_int_equal(nanoseconds, good[i].nanoseconds);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(option_duration(bad[i], &nanoseconds));
}

static void what_is_no_size_or_overflows_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "K",
                                        "-1",
                                        "+1",
                                        " 1",
                                        "1 K",
                                        "1KB",
                                        "1.5",
                                        "1.",
                                        "1.K",
                                        ".5K",
                                        "0x10",
                                        "1e3",
                                        "1T",
                                        "1K ",
                                        "18446744073709551616",
                                        "17179869184G",
                                        "99999999999999999999K"};
    uint64_t bytes;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(option_size(wrong[i], &bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ways_to_write_a_value_are_taken),
        cmocka_unit_test(every_kind_of_value_reaches_its_field),
        cmocka_unit_test(operands_may_stand_between_options_and_keep_their_order),
        cmocka_unit_test(a_launcher_leaves_the_options_of_its_command_alone),
        cmocka_unit_test(what_is_wrong_is_said_in_one_line),
        cmocka_unit_test(fractions_are_decimal_numbers_from_0_to_1),
        cmocka_unit_test(sizes_take_suffixes_and_decimals),
        cmocka_unit_test(durations_have_a_unit),
        cmocka_unit_test(what_is_no_size_or_overflows_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
