/* option_help.c: the --help text of a command, from its table.
 *
 * Two columns, the options and what they do, wrapped at words to fit 80 columns. The left column
 * is as wide as the widest option that leaves the right one room; a wider option has its line for
 * itself. The text is ASCII, so a byte is a column. */
#include "cli/option.h"

#include "proto/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_COLUMNS 80
#define LEFT_LIMIT 32 /* a left column wider than this would squeeze the right one */
#define LEFT_SIZE 96

/* Prints words from the column where the cursor is, continuing lines at indent. */
static void print_wrapped(const char *words, size_t column, size_t indent)
{
    bool first = true;
    while (*words != '\0') {
        size_t length = strcspn(words, " ");
        if (!first && column + 1 + length > LINE_COLUMNS - 1) {
            printf("\n%*s", (int)indent, "");
            column = indent;
            first = true;
        }
        printf("%s%.*s", first ? "" : " ", (int)length, words);
        column += length + (first ? 0 : 1);
        first = false;
        words += length;
        words += strspn(words, " ");
    }
    putchar('\n');
}

/* "  -n, --node-count N" */
static size_t format_left(const struct option_row *row, char left[LEFT_SIZE])
{
    char letter[] = {'-', row->letter, ',', ' ', '\0'};
    const char *argument = row->argument != NULL ? row->argument : "";
    int length = snprintf(left, LEFT_SIZE, "  %s--%s%s%s", row->letter != '\0' ? letter : "    ",
                          row->name, argument[0] != '\0' ? " " : "", argument);
    return length < LEFT_SIZE ? (size_t)length : LEFT_SIZE - 1;
}

static void print_row(const struct option_row *row, size_t indent)
{
    char left[LEFT_SIZE];
    size_t length = format_left(row, left);
    fputs(left, stdout);
    if (length + 2 > indent)
        printf("\n%*s", (int)indent, "");
    else
        printf("%*s", (int)(indent - length), "");
    print_wrapped(row->help, indent, indent);
}

static size_t right_column(const struct option_row *rows)
{
    char left[LEFT_SIZE];
    size_t widest = 0;
    for (; rows->name != NULL; rows++) {
        size_t length = format_left(rows, left);
        if (length > widest && length <= LEFT_LIMIT)
            widest = length;
    }
    return widest + 2;
}

static bool has_row(const struct option_row *rows, const char *name)
{
    for (; rows->name != NULL; rows++)
        if (strcmp(rows->name, name) == 0)
            return true;
    return false;
}

static void print_paragraph(const char *paragraph)
{
    if (paragraph[0] == ' ')
        puts(paragraph);
    else
        print_wrapped(paragraph, 0, 0);
}

/* Lines are filled up; a line break stays in front of a blank line and of an indented one. */
static void print_details(const char *details)
{
    char *text = heap_text(details);
    size_t length = strlen(text);
    for (; length > 0 && text[length - 1] == '\n'; length--)
        text[length - 1] = '\0';
    char *paragraph = text;
    for (size_t i = 0; i < length; i++) {
        if (text[i] != '\n')
            continue;
        bool breaks = text[i + 1] == '\n' || text[i + 1] == ' ' || paragraph[0] == ' ' || i == 0 ||
                      text[i - 1] == '\0';
        text[i] = breaks ? '\0' : ' ';
        if (breaks) {
            print_paragraph(paragraph);
            paragraph = text + i + 1;
        }
    }
    print_paragraph(paragraph);
    free(text);
}

void option_print_help(const struct command *command)
{
    static const struct option_row everywhere[] = {
        {'h', "help", NULL, OPTION_FLAG, 0, "print this help", NULL},
        {0, "version", NULL, OPTION_FLAG, 0, "print the version", NULL},
        {0},
    };
    size_t indent = right_column(command->rows);
    size_t least = right_column(everywhere);
    if (indent < least)
        indent = least;
    printf("usage: heapprof %s [options] %s\n\n", command->name, command->operands);
    print_wrapped(command->summary, 0, 0);
    printf("\noptions:\n");
    for (const struct option_row *row = command->rows; row->name != NULL; row++)
        print_row(row, indent);
    for (const struct option_row *row = everywhere; row->name != NULL; row++)
        if (!has_row(command->rows, row->name))
            print_row(row, indent);
    if (command->details != NULL) {
        putchar('\n');
        print_details(command->details);
    }
}

void option_print_version(void)
{
    printf("heapprof %s\n", HEAPPROF_VERSION);
}
