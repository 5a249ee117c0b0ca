/* source_path.c: paths of files as reports show them. */
#include "cli/source_path.h"

#include <stdbool.h>
#include <string.h>

const char *source_path_base(const char *path, size_t *length)
{
    size_t end = strlen(path);
    if (end == 0) {
        *length = 1;
        return ".";
    }
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    if (start == end) /* nothing but slashes: one of them is the name */
        start--;
    *length = end - start;
    return path + start;
}

const char *source_path_trim(const char *path)
{
    static const char *const prefixes[] = {"/proc/self/cwd/./", "/proc/self/cwd/"};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(path, prefixes[i], length) == 0)
            return path + length;
    }
    return path;
}

/* A path under construction. What stands before fixed cannot be taken back by "..". */
struct clean_path {
    char *text;
    size_t length;
    size_t fixed;
    bool rooted;
};

static void append_part(struct clean_path *path, const char *part, size_t length)
{
    if (path->length != (path->rooted ? 1u : 0u))
        path->text[path->length++] = '/';
    memcpy(path->text + path->length, part, length);
    path->length += length;
}

static void append_parent(struct clean_path *path)
{
    if (path->length > path->fixed) {
        path->length--;
        while (path->length > path->fixed && path->text[path->length] != '/')
            path->length--;
    } else if (!path->rooted) {
        append_part(path, "..", 2);
        path->fixed = path->length;
    }
}

char *source_path_clean(const char *path, char *clean)
{
    struct clean_path result = {.text = clean, .rooted = path[0] == '/'};
    if (result.rooted)
        clean[result.length++] = '/';
    result.fixed = result.length;
    while (*path != '\0') {
        size_t length = strcspn(path, "/");
        if (length == 2 && memcmp(path, "..", 2) == 0)
            append_parent(&result);
        else if (length > 0 && !(length == 1 && path[0] == '.'))
            append_part(&result, path, length);
        path += length;
        path += strspn(path, "/");
    }
    if (result.length == 0)
        clean[result.length++] = '.';
    clean[result.length] = '\0';
    return clean;
}
