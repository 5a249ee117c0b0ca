/* dwarf_module.c: unit, line and functions of an address put together into frames.
 *
 * The line table tells where the innermost function is; where an outer one is, the call of the
 * inlined function inside it tells. Addresses are taken as they are: the caller has already moved
 * return addresses into the call. */
#include "symbolize/dwarf_module.h"

#include <stdbool.h>
#include <stdlib.h>

#include "proto/arena.h"
#include "proto/error.h"
#include "symbolize/dwarf_functions.h"
#include "symbolize/dwarf_lines.h"
#include "symbolize/dwarf_names.h"
#include "symbolize/dwarf_object.h"
#include "symbolize/dwarf_units.h"
#include "symbolize/elf_file.h"

_Static_assert(DWARF_FRAMES_MAX >= DWARF_SCOPES_MAX, "a frame for each scope");

struct dwarf_module {
    struct arena *arena;
    struct dwarf_object *object;
    struct dwarf_units *units;
    struct dwarf_names *names;
};

struct dwarf_module *dwarf_module_open(const struct elf_file *file,
                                       const struct elf_file *alternate, struct error *error)
{
    struct dwarf_object *alternate_object =
        alternate ? dwarf_object_open(alternate, NULL, NULL) : NULL;
    struct dwarf_object *object = dwarf_object_open(file, alternate_object, error);
    if (!object)
        return NULL;
    struct dwarf_module *module = heap_alloc(sizeof(*module));
    *module = (struct dwarf_module){.arena = arena_new(), .object = object};
    module->units = dwarf_units_read(object, module->arena);
    module->names = dwarf_names_new(object, module->units, module->arena);
    if (dwarf_units_count(module->units) > 0)
        return module;
    error_set(error, file->name, "no readable compile unit");
    dwarf_module_close(module);
    return NULL;
}

void dwarf_module_close(struct dwarf_module *module)
{
    if (!module)
        return;
    dwarf_names_free(module->names);
    dwarf_units_free(module->units);
    dwarf_object_close(module->object);
    arena_free(module->arena);
    free(module);
}

static void set_name(struct dwarf_module *module, const struct dwarf_scope *scope,
                     struct dwarf_frame *frame)
{
    const struct dwarf_name *name = dwarf_names_find(module->names, scope->die_offset);
    frame->name = name->name;
    frame->linkage_name = name->linkage_name;
    frame->start_line = name->declared_line;
    frame->entry = scope->entry;
}

size_t dwarf_module_find(struct dwarf_module *module, uint64_t address,
                         struct dwarf_frame frames[DWARF_FRAMES_MAX])
{
    struct dwarf_scope scopes[DWARF_SCOPES_MAX];
    struct dwarf_line line = {.file = ""};
    struct dwarf_unit *unit = dwarf_units_at_address(module->units, address);
    if (!unit)
        return 0;
    const struct dwarf_lines *lines = dwarf_unit_lines(module->units, unit);
    bool has_line = dwarf_lines_find(lines, address, &line);
    size_t count = dwarf_functions_find(dwarf_unit_functions(unit), address, scopes);
    if (count == 0) {
        frames[0] =
            (struct dwarf_frame){.file = line.file, .line = line.line, .column = line.column};
        return has_line ? 1 : 0;
    }
    for (size_t i = 0; i < count; i++) {
        const struct dwarf_scope *scope = &scopes[count - 1 - i];
        frames[i] = (struct dwarf_frame){.file = line.file,
                                         .line = line.line,
                                         .column = line.column,
                                         .names_nest = unit->names_nest};
        set_name(module, scope, &frames[i]);
        line = (struct dwarf_line){.file = dwarf_lines_file(lines, scope->call_file),
                                   .line = scope->call_line,
                                   .column = scope->call_column};
    }
    return count;
}
