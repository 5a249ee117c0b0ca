/* dwarf_names.c: follows a function from where it is code to where it is named.
 *
 * An inlined call refers to the abstract function, a concrete member function to its declaration in
 * the class; each DIE on the way may hold the name, the linkage name or the line. The first one
 * found of each counts. With link-time optimisation the references cross units, with dwz they lead
 * into the alternate file. Hops are bounded: damaged references may form a ring.
 *
 * Source: DWARF 5, sections 2.13.2 and 3.3.8. */
#include "symbolize/dwarf_names.h"

#include <libdwarf/dwarf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/arena.h"
#include "proto/id_map.h"
#include "symbolize/dwarf_die.h"
#include "symbolize/dwarf_functions.h"
#include "symbolize/dwarf_object.h"
#include "symbolize/dwarf_units.h"

#define HOPS_MAX 16
#define NESTING_MAX 32

struct dwarf_names {
    struct dwarf_object *object;
    struct dwarf_units *units;
    struct arena *arena;
    struct id_map known; /* struct dwarf_name by offset */
};

struct dwarf_names *dwarf_names_new(struct dwarf_object *object, struct dwarf_units *units,
                                    struct arena *arena)
{
    struct dwarf_names *names = heap_alloc(sizeof(*names));
    names->object = object;
    names->units = units;
    names->arena = arena;
    id_map_init(&names->known, arena);
    return names;
}

void dwarf_names_free(struct dwarf_names *names)
{
    if (!names)
        return;
    id_map_done(&names->known);
    free(names);
}

/* "a::b::name" for a DIE in a unit whose language nests names. */
static const char *qualified(struct dwarf_names *names, uint64_t die_offset, const char *name)
{
    const char *outer[NESTING_MAX];
    struct dwarf_unit *unit = dwarf_units_at_offset(names->units, die_offset);
    if (!unit || !unit->names_nest)
        return name;
    size_t count =
        dwarf_functions_containers(dwarf_unit_functions(unit), die_offset, outer, NESTING_MAX);
    size_t length = strlen(name);
    for (size_t i = 0; i < count; i++)
        length += strlen(outer[i]) + 2;
    char *text = arena_alloc(names->arena, length + 1), *at = text;
    for (size_t i = 0; i < count; i++)
        at = stpcpy(stpcpy(at, outer[i]), "::");
    strcpy(at, name);
    return text;
}

static void take_attributes(struct dwarf_object *object, Dwarf_Die die, struct dwarf_name *name)
{
    if (!name->linkage_name)
        name->linkage_name = die_text(object, die, DW_AT_linkage_name);
    if (!name->linkage_name)
        name->linkage_name = die_text(object, die, DW_AT_MIPS_linkage_name);
    if (!name->name)
        name->name = die_text(object, die, DW_AT_name);
    if (name->declared_line == 0) {
        uint64_t line = die_number(object, die, DW_AT_decl_line, 0);
        name->declared_line = line > UINT32_MAX ? 0 : (uint32_t)line;
    }
}

static void resolve(struct dwarf_names *names, uint64_t offset, struct dwarf_name *name)
{
    uint64_t named_at = 0; /* the DIE that has the plain name, if it is in the main object */
    struct dwarf_object *object = names->object;
    for (int hop = 0; hop < HOPS_MAX; hop++) {
        Dwarf_Die die = die_at(object, offset);
        if (!die)
            break;
        bool had_name = name->name;
        take_attributes(object, die, name);
        if (!had_name && name->name && object == names->object)
            named_at = offset;
        bool goes_on = die_reference(object, die, DW_AT_abstract_origin, &object, &offset) ||
                       die_reference(object, die, DW_AT_specification, &object, &offset);
        die_free(die);
        if (!goes_on)
            break;
    }
    if (!name->linkage_name && name->name && named_at)
        name->name = qualified(names, named_at, name->name);
}

const struct dwarf_name *dwarf_names_find(struct dwarf_names *names, uint64_t die_offset)
{
    struct dwarf_name *name = id_map_find(&names->known, die_offset);
    if (!name) {
        name = arena_alloc(names->arena, sizeof(*name));
        resolve(names, die_offset, name);
        id_map_add(&names->known, die_offset, name);
    }
    return name;
}
