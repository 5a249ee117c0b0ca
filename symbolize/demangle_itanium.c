/* demangle_itanium.c: a C++ name without what makes it unreadable.
 *
 * libiberty parses the mangled name into a tree; this file prints the tree, leaving out parameters,
 * return types and template arguments wherever they stand: "std::vector<int>::push_back(int&&)" is
 * std::vector::push_back. It works on the tree because the finished text is ambiguous ("operator<",
 * "<(1>2)>"), and because a tree whose template arguments are never visited cannot blow up:
 * substitutions can make the full text of a name exponential in its length.
 *
 * Types are printed only where they are part of a name: conversion operators and the parameters of
 * lambdas. What is shown of a type is as short: no template arguments. Depth and the number of
 * nodes visited are bounded; past the bound there is no result.
 *
 * The form of each name is that of github.com/ianlancetaylor/demangle with NoParams,
 * NoEnclosingParams and NoTemplateParams, which pprof uses by default. */
#include "symbolize/demangle_itanium.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/arena.h"

#define PRINT_DEPTH_MAX 256
#define PRINT_NODES_MAX 4096
#define PRINT_TEXT_MAX 8192

struct printer {
    bool failed;
    int depth;
    int nodes;
    bool in_lambda;                             /* a template parameter is an "auto" there */
    const struct demangle_component *arguments; /* of the template being printed, or NULL */
    size_t length;
    char text[PRINT_TEXT_MAX];
};

static void print_name(struct printer *out, const struct demangle_component *node);
static void print_type(struct printer *out, const struct demangle_component *node);

static void append_bytes(struct printer *out, const char *bytes, size_t length)
{
    if (length >= sizeof(out->text) - out->length) {
        out->failed = true;
        return;
    }
    memcpy(out->text + out->length, bytes, length);
    out->length += length;
}

static void append(struct printer *out, const char *text)
{
    append_bytes(out, text, strlen(text));
}

static void append_number(struct printer *out, const char *before, long number, const char *after)
{
    char text[64];
    snprintf(text, sizeof(text), "%s%ld%s", before, number, after);
    append(out, text);
}

/* Operators and builtin types hide their text from us; libiberty prints such a leaf. */
static void append_leaf(struct printer *out, const struct demangle_component *leaf)
{
    size_t allocated = 0;
    struct demangle_component copy = *leaf;
    char *text = cplus_demangle_print(DMGL_NO_OPTS, &copy, 32, &allocated);
    if (text)
        append(out, text);
    else
        out->failed = true;
    free(text);
}

/* The standard substitutions come with their template arguments written out. */
static void append_standard(struct printer *out, const struct demangle_component *node)
{
    size_t length = (size_t)node->u.s_string.len;
    const char *angle = memchr(node->u.s_string.string, '<', length);
    append_bytes(out, node->u.s_string.string,
                 angle ? (size_t)(angle - node->u.s_string.string) : length);
}

/* Every visit of a node goes through enter and leave: this is what bounds the work. */
static bool enter(struct printer *out, const struct demangle_component *node)
{
    if (!node || out->depth >= PRINT_DEPTH_MAX || out->nodes >= PRINT_NODES_MAX)
        out->failed = true;
    if (out->failed)
        return false;
    out->depth++;
    out->nodes++;
    return true;
}

static void leave(struct printer *out)
{
    out->depth--;
}

static void print_list(struct printer *out, const struct demangle_component *list)
{
    const char *separator = "";
    for (; list && !out->failed; list = list->u.s_binary.right) {
        if (list->type != DEMANGLE_COMPONENT_ARGLIST &&
            list->type != DEMANGLE_COMPONENT_TEMPLATE_ARGLIST) {
            append(out, "...");
            return;
        }
        const struct demangle_component *element = list->u.s_binary.left;
        if (!element) /* an empty list has one element that is none */
            continue;
        append(out, separator);
        print_type(out, element);
        separator = ", ";
    }
}

static void print_lambda(struct printer *out, const struct demangle_component *node)
{
    const struct demangle_component *list = node->u.s_unary_num.sub;
    bool was_in_lambda = out->in_lambda;
    out->in_lambda = true;
    append(out, "{lambda(");
    bool is_void = list && list->type == DEMANGLE_COMPONENT_ARGLIST && list->u.s_binary.left &&
                   list->u.s_binary.left->type == DEMANGLE_COMPONENT_BUILTIN_TYPE &&
                   !list->u.s_binary.right;
    size_t start = out->length;
    print_list(out, list);
    if (is_void && out->length - start == 4 && memcmp(out->text + start, "void", 4) == 0)
        out->length = start;
    append_number(out, ")#", (long)node->u.s_unary_num.num + 1, "}");
    out->in_lambda = was_in_lambda;
}

/* The parameter's argument, looked up in the template that is being printed. */
static void print_parameter(struct printer *out, const struct demangle_component *node)
{
    long index = node->u.s_number.number;
    if (out->in_lambda) {
        append_number(out, "auto:", index + 1, "");
        return;
    }
    const struct demangle_component *list = out->arguments;
    while (list && index-- > 0)
        list = list->u.s_binary.right;
    if (!list || !list->u.s_binary.left) {
        out->failed = true;
        return;
    }
    const struct demangle_component *arguments = out->arguments;
    out->arguments = NULL; /* an argument never refers to its own list */
    print_type(out, list->u.s_binary.left);
    out->arguments = arguments;
}

/* "int (*)(char)": mark is what stands between the return type and the parameters. */
static void print_function_type(struct printer *out, const struct demangle_component *node,
                                const char *mark)
{
    if (node->u.s_binary.left) {
        print_type(out, node->u.s_binary.left);
        append(out, " ");
    }
    append(out, mark);
    append(out, "(");
    size_t start = out->length;
    print_list(out, node->u.s_binary.right);
    if (out->length - start == 4 && memcmp(out->text + start, "void", 4) == 0)
        out->length = start;
    append(out, ")");
}

static void print_wrapped_type(struct printer *out, const struct demangle_component *inner,
                               const char *after, const char *function_mark)
{
    if (inner && function_mark && inner->type == DEMANGLE_COMPONENT_FUNCTION_TYPE) {
        print_function_type(out, inner, function_mark);
        return;
    }
    print_type(out, inner);
    append(out, after);
}

static void print_type(struct printer *out, const struct demangle_component *node)
{
    if (!enter(out, node))
        return;
    switch (node->type) {
    case DEMANGLE_COMPONENT_POINTER:
        print_wrapped_type(out, node->u.s_binary.left, "*", "(*)");
        break;
    case DEMANGLE_COMPONENT_REFERENCE:
        print_wrapped_type(out, node->u.s_binary.left, "&", "(&)");
        break;
    case DEMANGLE_COMPONENT_RVALUE_REFERENCE:
        print_wrapped_type(out, node->u.s_binary.left, "&&", "(&&)");
        break;
    case DEMANGLE_COMPONENT_CONST:
        print_wrapped_type(out, node->u.s_binary.left, " const", NULL);
        break;
    case DEMANGLE_COMPONENT_VOLATILE:
        print_wrapped_type(out, node->u.s_binary.left, " volatile", NULL);
        break;
    case DEMANGLE_COMPONENT_RESTRICT:
        print_wrapped_type(out, node->u.s_binary.left, " restrict", NULL);
        break;
    case DEMANGLE_COMPONENT_PACK_EXPANSION:
        print_wrapped_type(out, node->u.s_binary.left, "...", NULL);
        break;
    case DEMANGLE_COMPONENT_FUNCTION_TYPE:
        print_function_type(out, node, "");
        break;
    case DEMANGLE_COMPONENT_ARRAY_TYPE:
        print_wrapped_type(out, node->u.s_binary.right, " []", NULL);
        break;
    case DEMANGLE_COMPONENT_PTRMEM_TYPE:
        print_type(out, node->u.s_binary.right);
        append(out, " ");
        print_type(out, node->u.s_binary.left);
        append(out, "::*");
        break;
    case DEMANGLE_COMPONENT_BUILTIN_TYPE:
        append_leaf(out, node);
        break;
    case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
        print_parameter(out, node);
        break;
    case DEMANGLE_COMPONENT_TEMPLATE_ARGLIST: /* a pack used as one argument */
        print_list(out, node);
        break;
    case DEMANGLE_COMPONENT_DECLTYPE:
        append(out, "decltype(...)");
        break;
    default:
        print_name(out, node);
        break;
    }
    leave(out);
}

/* Names that are a few words and another name. */
static const struct {
    enum demangle_component_type type;
    const char *words;
} prefixed_names[] = {
    {DEMANGLE_COMPONENT_VTABLE, "vtable for "},
    {DEMANGLE_COMPONENT_VTT, "VTT for "},
    {DEMANGLE_COMPONENT_CONSTRUCTION_VTABLE, "construction vtable for "},
    {DEMANGLE_COMPONENT_TYPEINFO, "typeinfo for "},
    {DEMANGLE_COMPONENT_TYPEINFO_NAME, "typeinfo name for "},
    {DEMANGLE_COMPONENT_TYPEINFO_FN, "typeinfo fn for "},
    {DEMANGLE_COMPONENT_THUNK, "non-virtual thunk to "},
    {DEMANGLE_COMPONENT_VIRTUAL_THUNK, "virtual thunk to "},
    {DEMANGLE_COMPONENT_COVARIANT_THUNK, "covariant return thunk to "},
    {DEMANGLE_COMPONENT_GUARD, "guard variable for "},
    {DEMANGLE_COMPONENT_TLS_INIT, "TLS init function for "},
    {DEMANGLE_COMPONENT_TLS_WRAPPER, "TLS wrapper function for "},
    {DEMANGLE_COMPONENT_HIDDEN_ALIAS, "hidden alias for "},
    {DEMANGLE_COMPONENT_TRANSACTION_CLONE, "transaction clone for "},
    {DEMANGLE_COMPONENT_NONTRANSACTION_CLONE, "non-transaction clone for "},
    {DEMANGLE_COMPONENT_GLOBAL_CONSTRUCTORS, "global constructors keyed to "},
    {DEMANGLE_COMPONENT_GLOBAL_DESTRUCTORS, "global destructors keyed to "},
};

static const char *prefix_words(enum demangle_component_type type)
{
    for (size_t i = 0; i < sizeof(prefixed_names) / sizeof(*prefixed_names); i++) {
        if (prefixed_names[i].type == type)
            return prefixed_names[i].words;
    }
    return NULL;
}

static void print_pair(struct printer *out, const struct demangle_component *node,
                       const char *between)
{
    print_name(out, node->u.s_binary.left);
    append(out, between);
    print_name(out, node->u.s_binary.right);
}

static void print_template(struct printer *out, const struct demangle_component *node)
{
    const struct demangle_component *arguments = out->arguments;
    out->arguments = node->u.s_binary.right;
    print_name(out, node->u.s_binary.left);
    out->arguments = arguments;
}

/* Parts of names that are neither a plain identifier nor made of other parts by "::". */
static void print_special(struct printer *out, const struct demangle_component *node)
{
    const char *words = prefix_words(node->type);
    switch (node->type) {
    case DEMANGLE_COMPONENT_OPERATOR:
        append_leaf(out, node);
        break;
    case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
        append(out, "operator ");
        print_name(out, node->u.s_extended_operator.name);
        break;
    case DEMANGLE_COMPONENT_UNARY: /* operator"" _suffix */
        append(out, "operator\"\" ");
        print_name(out, node->u.s_binary.right);
        break;
    case DEMANGLE_COMPONENT_CONVERSION:
    case DEMANGLE_COMPONENT_CAST:
        append(out, "operator ");
        print_type(out, node->u.s_binary.left);
        break;
    case DEMANGLE_COMPONENT_LAMBDA:
        print_lambda(out, node);
        break;
    case DEMANGLE_COMPONENT_UNNAMED_TYPE:
        append_number(out, "{unnamed type#", node->u.s_number.number + 1, "}");
        break;
    case DEMANGLE_COMPONENT_DEFAULT_ARG:
        append_number(out, "{default arg#", (long)node->u.s_unary_num.num + 1, "}::");
        print_name(out, node->u.s_unary_num.sub);
        break;
    case DEMANGLE_COMPONENT_TAGGED_NAME:
        print_name(out, node->u.s_binary.left);
        append(out, "[abi:");
        print_name(out, node->u.s_binary.right);
        append(out, "]");
        break;
    default:
        if (words) {
            append(out, words);
            print_type(out, node->u.s_binary.left);
        } else {
            out->failed = true;
        }
        break;
    }
}

static void print_name(struct printer *out, const struct demangle_component *node)
{
    if (!enter(out, node))
        return;
    switch (node->type) {
    case DEMANGLE_COMPONENT_NAME:
        append_bytes(out, node->u.s_name.s, (size_t)node->u.s_name.len);
        break;
    case DEMANGLE_COMPONENT_SUB_STD:
        append_standard(out, node);
        break;
    case DEMANGLE_COMPONENT_QUAL_NAME:
    case DEMANGLE_COMPONENT_LOCAL_NAME:
        print_pair(out, node, "::");
        break;
    case DEMANGLE_COMPONENT_TEMPLATE:
        print_template(out, node);
        break;
    case DEMANGLE_COMPONENT_TYPED_NAME:
    case DEMANGLE_COMPONENT_CLONE:
    case DEMANGLE_COMPONENT_CONST_THIS:
    case DEMANGLE_COMPONENT_VOLATILE_THIS:
    case DEMANGLE_COMPONENT_RESTRICT_THIS:
    case DEMANGLE_COMPONENT_REFERENCE_THIS:
    case DEMANGLE_COMPONENT_RVALUE_REFERENCE_THIS:
        print_name(out, node->u.s_binary.left);
        break;
    case DEMANGLE_COMPONENT_CTOR:
        print_name(out, node->u.s_ctor.name);
        break;
    case DEMANGLE_COMPONENT_DTOR:
        append(out, "~");
        print_name(out, node->u.s_dtor.name);
        break;
    case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
    case DEMANGLE_COMPONENT_BUILTIN_TYPE:
        print_type(out, node);
        break;
    default:
        print_special(out, node);
        break;
    }
    leave(out);
}

char *demangle_itanium(const char *mangled)
{
    void *memory = NULL;
    const struct demangle_component *tree =
        cplus_demangle_v3_components(mangled, DMGL_NO_OPTS, &memory);
    if (!tree)
        return NULL;
    struct printer *out = heap_alloc(sizeof(*out));
    memset(out, 0, offsetof(struct printer, text));
    print_name(out, tree);
    char *result = NULL;
    if (!out->failed && out->length > 0) {
        out->text[out->length] = '\0';
        result = heap_text(out->text);
    }
    free(out);
    free(memory);
    return result;
}
