/* debug_file.c: the search for separate debug files, in GDB's order.
 *
 * A candidate must prove that it belongs to the file. The proof is the build id, which costs
 * nothing; the CRC over the whole candidate (1 ms a MB) is taken only where there is no build id.
 * A .gnu_debuglink may bear the name of the file itself: beside it that is the stripped file again,
 * which is passed over, so that .debug/NAME is still found.
 *
 * It does not ask debuginfod. Source: GDB manual, "Debugging Information in Separate Files". */
#include "symbolize/debug_file.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/arena.h"
#include "symbolize/elf_file.h"

/* Something that the stripped file lacks. */
static bool has_debug_contents(const struct elf_file *file)
{
    static const char *const sections[] = {".debug_info", ".zdebug_info", ".symtab"};
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
        if (elf_file_section_bytes(file, elf_file_section(file, sections[i])).size > 0)
            return true;
    }
    return false;
}

/* The file at path when it has debug contents and this build id; without one, any. */
static struct elf_file *open_candidate(const char *path, const char *build_id)
{
    struct elf_file *file = elf_file_open(path, NULL);
    if (!file)
        return NULL;
    bool is_same = build_id[0] == '\0' || strcmp(file->build_id, build_id) == 0;
    if (is_same && has_debug_contents(file))
        return file;
    elf_file_close(file);
    return NULL;
}

static bool is_hex(const char *text)
{
    return text[strspn(text, "0123456789abcdef")] == '\0';
}

struct elf_file *debug_file_of_build_id(const char *build_id, const char *root)
{
    char path[PATH_MAX];
    if (strlen(build_id) < 4 || !is_hex(build_id))
        return NULL;
    int length =
        snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", root, build_id, build_id + 2);
    if (length < 0 || (size_t)length >= sizeof(path))
        return NULL;
    return open_candidate(path, build_id);
}

static struct elf_file *open_linked(const struct elf_file *file, const char *path, uint32_t crc)
{
    struct elf_file *candidate = open_candidate(path, file->build_id);
    if (!candidate)
        return NULL;
    bool is_itself = candidate->inode == file->inode && candidate->device == file->device;
    bool is_proven = file->build_id[0] != '\0' || elf_file_crc(candidate) == crc;
    if (!is_itself && is_proven)
        return candidate;
    elf_file_close(candidate);
    return NULL;
}

/* The directory of path, without the slash at its end: "" for the root, "." without any slash. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *directory = heap_text(slash ? path : ".");
    if (slash)
        directory[slash - path] = '\0';
    return directory;
}

/* The three places where a link may lead, relative to ROOT and the file's directory. */
static const struct {
    bool is_below_root;
    const char *between;
} link_places[] = {{false, "/"}, {false, "/.debug/"}, {true, "/"}};

static struct elf_file *find_by_link(const struct elf_file *file, const char *path,
                                     const char *root)
{
    const char *name;
    uint32_t crc;
    if (!elf_file_debug_link(file, &name, &crc) || strchr(name, '/'))
        return NULL;
    char *real = realpath(path, NULL); /* /lib is a link to /usr/lib, say */
    char *directory = directory_of(real ? real : path);
    struct elf_file *found = NULL;
    for (size_t i = 0; i < sizeof(link_places) / sizeof(*link_places) && !found; i++) {
        char candidate[PATH_MAX];
        int length = snprintf(candidate, sizeof(candidate), "%s%s%s%s",
                              link_places[i].is_below_root ? root : "", directory,
                              link_places[i].between, name);
        if (length > 0 && (size_t)length < sizeof(candidate))
            found = open_linked(file, candidate, crc);
    }
    free(directory);
    free(real);
    return found;
}

struct elf_file *debug_file_find(const struct elf_file *file, const char *path, const char *root)
{
    struct elf_file *found = debug_file_of_build_id(file->build_id, root);
    return found ? found : find_by_link(file, path, root);
}

struct elf_file *debug_file_find_alternate(const struct elf_file *file, const char *path,
                                           const char *root)
{
    const char *name;
    char build_id[2 * ELF_BUILD_ID_BYTES + 1];
    char candidate[PATH_MAX];
    if (!elf_file_debug_alt_link(file, &name, build_id))
        return NULL;
    char *real = realpath(path, NULL);
    char *directory = directory_of(real ? real : path);
    int length = name[0] == '/' ? snprintf(candidate, sizeof(candidate), "%s", name)
                                : snprintf(candidate, sizeof(candidate), "%s/%s", directory, name);
    free(directory);
    free(real);
    struct elf_file *found = NULL;
    if (length > 0 && (size_t)length < sizeof(candidate))
        found = open_candidate(candidate, build_id);
    return found ? found : debug_file_of_build_id(build_id, root);
}
