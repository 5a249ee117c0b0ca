/* flame_colour.c: which colour class of share/flame.css a frame has.
 *
 * Only names go in, so a function keeps its colour from one picture to the next. The colours
 * themselves, for light and dark, are in the style sheet: "a0" to "g3", a letter for the hue and a
 * digit for the shade; "n" is grey; "u1" to "u3" grew and "x1" to "x3" shrank, more and more. */
#include "cli/flame_colour.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define HUES 7u
#define HUES_PER_GROUP 3u /* neighbours: a picture of one library is not all one colour */
#define SHADES 4u

/* FNV-1a, 32 bits (draft-eastlake-fnv), with the bits mixed once more: its low bits are weak. */
static uint32_t hash_bytes(const char *bytes, size_t length)
{
    uint32_t hash = 0x811c9dc5u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x01000193u;
    return (hash ^ hash >> 15) * 0x2c1b3c6du >> 8;
}

static bool is_go(const char *source)
{
    size_t length = strlen(source);
    return length >= 3 && strcmp(source + length - 3, ".go") == 0;
}

/* The outermost name space ("std" of C++ and Rust, the package of Go): *start and its length; 0
 * when the name has none. */
static size_t name_space(const char *name, const char *source, const char **start)
{
    if (is_go(source)) {
        const char *slash = strrchr(name, '/');
        *start = slash == NULL ? name : slash + 1;
        const char *dot = strchr(*start, '.');
        return dot == NULL ? 0 : (size_t)(dot - *start);
    }
    *start = name + strspn(name, "<&* ");
    size_t length = strcspn(*start, ":<>() ");
    return (*start)[length] == ':' && (*start)[length + 1] == ':' ? length : 0;
}

char *flame_colour(const char *name, const char *module, const char *source,
                   char text[FLAME_COLOUR_SIZE])
{
    if (name[0] == '[')
        return strcpy(text, "n");
    const char *group;
    size_t length = name_space(name, source, &group);
    if (length == 0) {
        group = module;
        length = strlen(module);
    }
    uint32_t group_hash = hash_bytes(group, length);
    uint32_t name_hash = hash_bytes(name, strlen(name));
    uint32_t hue = group_hash % (HUES - HUES_PER_GROUP + 1) + name_hash / SHADES % HUES_PER_GROUP;
    text[0] = (char)('a' + hue);
    text[1] = (char)('0' + name_hash % SHADES);
    text[2] = '\0';
    return text;
}

char *flame_colour_change(uint64_t growth, uint64_t shrink, char text[FLAME_COLOUR_SIZE])
{
    if (growth == shrink)
        return strcpy(text, "n");
    uint64_t net = growth > shrink ? growth - shrink : shrink - growth;
    uint64_t third = (growth + shrink) / 3;
    text[0] = growth > shrink ? 'u' : 'x';
    text[1] = net <= third ? '1' : net - third <= third ? '2' : '3';
    text[2] = '\0';
    return text;
}
