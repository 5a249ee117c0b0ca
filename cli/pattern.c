/* pattern.c: regular expressions that cannot be made to take long.
 *
 * The tree is compiled to a program for a machine that is in many places at once and looks at each
 * character of the text once: no backtracking, so no pattern is slow beyond its own length.
 * Sources: Thompson, "Regular Expression Search Algorithm", 1968; Cox, "Regular Expression
 * Matching: the Virtual Machine Approach", https://swtch.com/~rsc/regexp/regexp2.html; Briggs and
 * Torczon, "An Efficient Representation for Sparse Sets", 1993. */
#include "cli/pattern.h"

#include "cli/pattern_syntax.h"
#include "proto/arena.h"
#include "proto/utf8.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define INSTRUCTION_LIMIT 20000 /* real drop_frames have a few hundred */
#define NO_CHARACTER UINT32_MAX /* before and behind the text */
#define REPLACEMENT 0xfffdu     /* stands for a byte that is no character */

enum operation {
    OPERATION_CLASS,  /* a character of ranges, then the next instruction */
    OPERATION_ASSERT, /* the next instruction if the place fits */
    OPERATION_SPLIT,  /* both first and second */
    OPERATION_JUMP,   /* first */
    OPERATION_MATCH
};

struct instruction {
    enum operation operation;
    enum pattern_assertion assertion;
    const struct pattern_range *ranges;
    size_t range_count;
    uint32_t first, second;
};

/* The instructions that the machine is at: index[i] is where i stands in items, if it does. */
struct places {
    uint32_t *items;
    uint32_t *index;
    uint32_t count;
};

struct pattern {
    struct arena *arena;
    struct instruction *program;
    uint32_t count;
    bool too_large;
    struct places now, next;
    uint32_t *pending; /* stack of instructions to follow */
};

static uint32_t emit(struct pattern *pattern, enum operation operation)
{
    if (pattern->count == INSTRUCTION_LIMIT) {
        pattern->too_large = true;
        return pattern->count - 1;
    }
    pattern->program[pattern->count] = (struct instruction){.operation = operation};
    return pattern->count++;
}

static void compile(struct pattern *pattern, const struct pattern_node *node, int repeats_left);

static void compile_alternate(struct pattern *pattern, const struct pattern_node *node,
                              int repeats_left)
{
    uint32_t previous_jump = UINT32_MAX; /* jumps to the end, each naming the one before */
    for (const struct pattern_node *child = node->child; child != NULL; child = child->next) {
        if (child->next == NULL) {
            compile(pattern, child, repeats_left);
            break;
        }
        uint32_t split = emit(pattern, OPERATION_SPLIT);
        pattern->program[split].first = pattern->count;
        compile(pattern, child, repeats_left);
        uint32_t jump = emit(pattern, OPERATION_JUMP);
        pattern->program[jump].first = previous_jump;
        previous_jump = jump;
        pattern->program[split].second = pattern->count;
        if (pattern->too_large)
            return;
    }
    while (previous_jump != UINT32_MAX) {
        uint32_t earlier = pattern->program[previous_jump].first;
        pattern->program[previous_jump].first = pattern->count;
        previous_jump = earlier;
    }
}

/* child* */
static void compile_star(struct pattern *pattern, const struct pattern_node *child,
                         int repeats_left)
{
    uint32_t split = emit(pattern, OPERATION_SPLIT);
    pattern->program[split].first = pattern->count;
    compile(pattern, child, repeats_left);
    uint32_t jump = emit(pattern, OPERATION_JUMP);
    pattern->program[jump].first = split;
    pattern->program[split].second = pattern->count;
}

/* child? */
static void compile_option(struct pattern *pattern, const struct pattern_node *child,
                           int repeats_left)
{
    uint32_t split = emit(pattern, OPERATION_SPLIT);
    pattern->program[split].first = pattern->count;
    compile(pattern, child, repeats_left);
    pattern->program[split].second = pattern->count;
}

/* Copies of the child: {2,4} is child child child? child? (each may be left out by itself: the
 * same texts match as with child (child (child?)?)?). */
static void compile_repeat(struct pattern *pattern, const struct pattern_node *node,
                           int repeats_left)
{
    int most = node->maximum == PATTERN_NO_MAXIMUM ? node->minimum : node->maximum;
    if (most > repeats_left) {
        pattern->too_large = true;
        return;
    }
    if (most > 1)
        repeats_left /= most;
    for (int i = 0; i < node->minimum && !pattern->too_large; i++)
        compile(pattern, node->child, repeats_left);
    if (node->maximum == PATTERN_NO_MAXIMUM)
        compile_star(pattern, node->child, repeats_left);
    for (int i = node->minimum; i < node->maximum && !pattern->too_large; i++)
        compile_option(pattern, node->child, repeats_left);
}

/* As deep as the tree is high. repeats_left is how often the node may still be copied. */
static void compile(struct pattern *pattern, const struct pattern_node *node, int repeats_left)
{
    if (pattern->too_large)
        return;
    switch (node->kind) {
    case PATTERN_CLASS: {
        uint32_t at = emit(pattern, OPERATION_CLASS);
        pattern->program[at].ranges = node->ranges;
        pattern->program[at].range_count = node->range_count;
        break;
    }
    case PATTERN_ASSERT: {
        uint32_t at = emit(pattern, OPERATION_ASSERT);
        pattern->program[at].assertion = node->assertion;
        break;
    }
    case PATTERN_SEQUENCE:
        for (const struct pattern_node *child = node->child; child != NULL; child = child->next)
            compile(pattern, child, repeats_left);
        break;
    case PATTERN_ALTERNATE:
        compile_alternate(pattern, node, repeats_left);
        break;
    case PATTERN_REPEAT:
        compile_repeat(pattern, node, repeats_left);
        break;
    }
}

static void places_init(struct places *places, struct arena *arena, uint32_t count)
{
    places->items = arena_array(arena, count, sizeof(uint32_t));
    places->index = arena_array(arena, count, sizeof(uint32_t));
    places->count = 0;
}

struct pattern *pattern_new(const char *text)
{
    struct arena *arena = arena_new();
    const struct pattern_node *tree = pattern_parse(text, arena);
    if (tree == NULL) {
        arena_free(arena);
        return NULL;
    }
    struct pattern *pattern = arena_alloc(arena, sizeof(*pattern));
    pattern->arena = arena;
    pattern->program = arena_array(arena, INSTRUCTION_LIMIT, sizeof(*pattern->program));
    compile(pattern, tree, PATTERN_REPEAT_LIMIT);
    emit(pattern, OPERATION_MATCH);
    if (pattern->too_large) {
        arena_free(arena);
        return NULL;
    }
    places_init(&pattern->now, arena, pattern->count);
    places_init(&pattern->next, arena, pattern->count);
    pattern->pending = arena_array(arena, pattern->count, sizeof(uint32_t));
    return pattern;
}

void pattern_free(struct pattern *pattern)
{
    if (pattern != NULL)
        arena_free(pattern->arena);
}

static bool in_class(const struct instruction *instruction, uint32_t character)
{
    for (size_t i = 0; i < instruction->range_count; i++)
        if (character >= instruction->ranges[i].first && character <= instruction->ranges[i].last)
            return true;
    return false;
}

static bool is_word(uint32_t character)
{
    return (character >= '0' && character <= '9') || (character >= 'A' && character <= 'Z') ||
           character == '_' || (character >= 'a' && character <= 'z');
}

/* Whether the place between two characters is one that assertion asks for. */
static bool holds(enum pattern_assertion assertion, uint32_t before, uint32_t behind)
{
    switch (assertion) {
    case PATTERN_TEXT_BEGIN:
        return before == NO_CHARACTER;
    case PATTERN_TEXT_END:
        return behind == NO_CHARACTER;
    case PATTERN_LINE_BEGIN:
        return before == NO_CHARACTER || before == '\n';
    case PATTERN_LINE_END:
        return behind == NO_CHARACTER || behind == '\n';
    case PATTERN_WORD_EDGE:
        return is_word(before) != is_word(behind);
    case PATTERN_NO_WORD_EDGE:
        return is_word(before) == is_word(behind);
    }
    return false;
}

/* Adds at to places unless it is there. */
static bool places_add(struct places *places, uint32_t at)
{
    uint32_t index = places->index[at];
    if (index < places->count && places->items[index] == at)
        return false;
    places->index[at] = places->count;
    places->items[places->count++] = at;
    return true;
}

/* Adds start and all that is reached from it without taking a character. Each instruction is
 * pending at most once, so the stack is large enough. True when the end of the pattern is. */
static bool follow(struct pattern *pattern, struct places *places, uint32_t start, uint32_t before,
                   uint32_t behind)
{
    uint32_t *pending = pattern->pending;
    uint32_t depth = 0;
    if (places_add(places, start))
        pending[depth++] = start;
    while (depth > 0) {
        uint32_t at = pending[--depth];
        const struct instruction *instruction = &pattern->program[at];
        uint32_t targets[2];
        size_t target_count = 0;
        if (instruction->operation == OPERATION_MATCH)
            return true;
        if (instruction->operation == OPERATION_ASSERT &&
            holds(instruction->assertion, before, behind))
            targets[target_count++] = at + 1;
        if (instruction->operation == OPERATION_JUMP || instruction->operation == OPERATION_SPLIT)
            targets[target_count++] = instruction->first;
        if (instruction->operation == OPERATION_SPLIT)
            targets[target_count++] = instruction->second;
        for (size_t i = 0; i < target_count; i++)
            if (places_add(places, targets[i]))
                pending[depth++] = targets[i];
    }
    return false;
}

/* The character at *text, NO_CHARACTER at its end; *text moves behind it. */
static uint32_t next_character(const char **text, const char *end)
{
    bool valid;
    if (*text == end)
        return NO_CHARACTER;
    size_t length = utf8_step(*text, (size_t)(end - *text), &valid);
    const unsigned char *bytes = (const unsigned char *)*text;
    uint32_t character = length == 1 ? bytes[0] : bytes[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++)
        character = character << 6 | (bytes[i] & 0x3f);
    *text += length;
    return valid ? character : REPLACEMENT;
}

bool pattern_matches(struct pattern *pattern, const char *text)
{
    const char *end = text + strlen(text);
    uint32_t before = NO_CHARACTER;
    uint32_t character = next_character(&text, end);
    pattern->now.count = 0;
    for (;;) {
        /* A match may begin anywhere. */
        if (follow(pattern, &pattern->now, 0, before, character))
            return true;
        if (character == NO_CHARACTER)
            return false;
        uint32_t behind = next_character(&text, end);
        pattern->next.count = 0;
        for (uint32_t i = 0; i < pattern->now.count; i++) {
            uint32_t at = pattern->now.items[i];
            if (pattern->program[at].operation == OPERATION_CLASS &&
                in_class(&pattern->program[at], character) &&
                follow(pattern, &pattern->next, at + 1, character, behind))
                return true;
        }
        struct places swap = pattern->now;
        pattern->now = pattern->next;
        pattern->next = swap;
        before = character;
        character = behind;
    }
}
