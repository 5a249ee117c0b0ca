/* own_files.c: this library's own path, and the main program by its entry point.
 *
 * Not hook-safe: realpath. */
#include "runtime/own_files.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

const char *own_files_library(void)
{
    struct dl_find_object object;
    if (_dl_find_object((void *)(uintptr_t)own_files_library, &object) != 0)
        return "";
    return object.dlfo_link_map->l_name;
}

bool own_files_beside(const char *name, char *out, size_t capacity)
{
    char real[PATH_MAX];
    if (realpath(own_files_library(), real) == NULL)
        return false;
    char *slash = strrchr(real, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash - real) + 1;
    if (folder == 0 || folder + strlen(name) >= capacity)
        return false;
    memcpy(out, real, folder);
    strcpy(out + folder, name);
    return access(out, R_OK) == 0;
}

void own_files_note_main(void (*note)(uintptr_t pc, const struct dl_find_object *object))
{
    uintptr_t entry = getauxval(AT_ENTRY);
    struct dl_find_object object;
    if (entry != 0 && _dl_find_object((void *)entry, &object) == 0)
        note(entry, &object);
}
