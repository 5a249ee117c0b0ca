/* demangle.c: which scheme a name was mangled with, and what is cut off before and after.
 *
 * C++ goes through demangle_itanium.c, Rust through libiberty, whose short form is already what
 * people expect: no crate hashes (v0) and no "::h0123456789abcdef" (legacy). A hostile v0 name can
 * double its output at every back reference, so output is bounded: the writer leaves the demangler
 * by longjmp when the bound is passed. That is sound because libiberty's demanglers with a callback
 * keep all their state on the stack. Names of other languages (Go, D, Swift, Ada) stay as they are.
 *
 * Source of the schemes: Itanium C++ ABI chapter 5.1; Rust RFC 2603 (v0). */
#include "symbolize/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "proto/arena.h"
#include "symbolize/demangle_itanium.h"

/* Longer names are left alone. The demanglers recurse on their input; the worst names found (a
 * pointer or a local name a letter) take 100 bytes of stack a letter: 2 MiB at this bound. */
#define MANGLED_LENGTH_MAX 16384u
#define OUTPUT_MAX 16384u

struct bounded_text {
    jmp_buf too_long;
    size_t length;
    char text[OUTPUT_MAX];
};

static void append(const char *piece, size_t length, void *context)
{
    struct bounded_text *out = context;
    if (length >= sizeof(out->text) - out->length)
        longjmp(out->too_long, 1);
    memcpy(out->text + out->length, piece, length);
    out->length += length;
}

/* What one of libiberty's demanglers makes of name; NULL when that is nothing, or too long. */
static char *demangle_by(int (*demangler)(const char *name, int options,
                                          demangle_callbackref callback, void *context),
                         int options, const char *name)
{
    struct bounded_text *out = heap_alloc(sizeof(*out));
    char *result = NULL;
    out->length = 0;
    if (setjmp(out->too_long) == 0 && demangler(name, options, append, out)) {
        out->text[out->length] = '\0';
        result = heap_text(out->text);
    }
    free(out);
    return result;
}

/* What gcc and clang put behind a name when they split, copy or rename a function. */
static const char *const clone_suffixes[] = {
    "cold",     "isra", "part",    "constprop", "lto_priv", "llvm",    "localalias",
    "unlikely", "warm", "startup", "exit",      "hot",      "fnsplit",
};

static bool is_clone_word(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof(clone_suffixes) / sizeof(*clone_suffixes); i++) {
        if (strlen(clone_suffixes[i]) == length && memcmp(clone_suffixes[i], word, length) == 0)
            return true;
    }
    return false;
}

static bool all_digits(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (!isdigit((unsigned char)text[i]))
            return false;
    }
    return length > 0;
}

/* Length of name without its clone suffixes: "f.part.0.cold" is 1, "f.data" and ".x" stay. */
static size_t plain_length(const char *name)
{
    size_t length = strlen(name);
    size_t keep = length;
    while (length > 0) {
        const char *dot = memrchr(name, '.', length);
        if (!dot || dot == name)
            break;
        size_t word_length = (size_t)(name + length - dot) - 1;
        size_t cut = (size_t)(dot - name);
        if (is_clone_word(dot + 1, word_length))
            keep = cut;
        else if (!all_digits(dot + 1, word_length))
            break;
        length = cut;
    }
    return keep;
}

char *demangle_simple(const char *name)
{
    size_t length = strlen(name);
    bool is_cxx = strncmp(name, "_Z", 2) == 0 || strncmp(name, "_GLOBAL_", 8) == 0;
    bool is_rust = strncmp(name, "_R", 2) == 0 || strncmp(name, "_ZN", 3) == 0;
    char *result = NULL;
    if (length <= MANGLED_LENGTH_MAX) {
        if (is_rust)
            result = demangle_by(rust_demangle_callback, DMGL_NO_OPTS, name);
        if (!result && is_cxx)
            result = demangle_itanium(name);
    }
    if (!result) {
        result = heap_text(name);
        if (!is_cxx)
            result[plain_length(name)] = '\0';
    }
    return result;
}

char *demangle_full(const char *name)
{
    if (strncmp(name, "_Z", 2) != 0 || strlen(name) > MANGLED_LENGTH_MAX)
        return NULL;
    return demangle_by(cplus_demangle_v3_callback, DMGL_PARAMS | DMGL_ANSI, name);
}
