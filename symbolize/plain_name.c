/* plain_name.c: brackets are skipped with what is in them, but for those that belong to a name.
 *
 * gcc writes template arguments and enclosing parameters into DW_AT_name. The mangled names go
 * through the demangler's tree (demangle_itanium.c), which knows what is what; here only the text
 * tells. A name whose brackets do not match is left as it is. */
#include "symbolize/plain_name.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/arena.h"

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Whether out[0..length) ends with the word "operator", maybe with the first sign of it behind. */
static bool ends_with_operator(const char *out, size_t length)
{
    static const char word[] = "operator";
    size_t size = sizeof(word) - 1;
    while (length > 0 && strchr("<>-=", out[length - 1]) != NULL)
        length--;
    return length >= size && memcmp(out + length - size, word, size) == 0;
}

/* One past the bracket that closes the one at text; NULL when there is none. */
static const char *past_bracket(const char *text)
{
    size_t depth = 0;
    for (; *text != '\0'; text++) {
        if (strchr("<([{", *text) != NULL)
            depth++;
        else if (*text == '>' && text[-1] == '-') /* of a trailing return type */
            continue;
        else if (strchr(">)]}", *text) != NULL && --depth == 0)
            return text + 1;
    }
    return NULL;
}

static bool begins_component(const char *out, size_t length)
{
    return length == 0 || out[length - 1] == ':';
}

/* What a bracket at text stands for in the result: as many of its own bytes, or another text. */
static const char *bracket_text(const char *text, const char *out, size_t length)
{
    if (begins(text, "(anonymous namespace)"))
        return "(anonymous namespace)";
    if (begins(text, "()") && ends_with_operator(out, length) && out[length - 1] == 'r')
        return "()";
    if (begins(text, "<lambda") && begins_component(out, length))
        return "<lambda>";
    return "";
}

char *plain_name_simple(const char *name)
{
    char *out = heap_alloc(strlen(name) + sizeof("<lambda>"));
    size_t length = 0;
    for (const char *at = name; *at != '\0';) {
        bool is_bracket = *at == '(' || (*at == '<' && !ends_with_operator(out, length));
        if (!is_bracket) {
            out[length++] = *at++;
            continue;
        }
        const char *kept = bracket_text(at, out, length);
        const char *past = strcmp(kept, "()") == 0 ? at + 2 : past_bracket(at);
        if (past == NULL || length + strlen(kept) > strlen(name)) {
            free(out);
            return heap_text(name);
        }
        memcpy(out + length, kept, strlen(kept));
        length += strlen(kept);
        if (*at == '(' && kept[0] == '\0' && !begins(past, "::"))
            break; /* the parameters; behind them come qualifiers */
        at = past;
    }
    while (length > 0 && out[length - 1] == ' ')
        length--;
    out[length] = '\0';
    if (length > 0)
        return out;
    free(out);
    return heap_text(name);
}
