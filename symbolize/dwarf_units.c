/* dwarf_units.c: the list of compile units, made from their own DIEs.
 *
 * .debug_aranges would be quicker to read, but clang does not write it and linkers leave it
 * incomplete, so the addresses of a unit come from its DIE. All that is inside a unit is decoded
 * only when an address in it is asked for.
 *
 * A skeleton unit (split DWARF) has addresses and a line table here and its functions in another
 * file, which is not opened: it gives lines, and the symbol table gives the function.
 *
 * Source: DWARF 5, sections 3.1 and 7.5.1. */
#include "symbolize/dwarf_units.h"

#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>
#include <stdlib.h>
#include <string.h>

#include "proto/arena.h"
#include "symbolize/address_index.h"
#include "symbolize/dwarf_die.h"
#include "symbolize/dwarf_functions.h"
#include "symbolize/dwarf_lines.h"
#include "symbolize/dwarf_object.h"

struct dwarf_units {
    struct arena *arena;
    struct dwarf_unit *items; /* in the order of .debug_info */
    size_t count, capacity;
    struct address_index index;
};

/* C and assembly have neither namespaces nor classes. */
static bool language_nests(uint64_t language)
{
    return language != DW_LANG_C && language != DW_LANG_C89 && language != DW_LANG_C99 &&
           language != DW_LANG_C11 && language != DW_LANG_Mips_Assembler && language != 0;
}

static void add_unit(struct dwarf_units *units, struct dwarf_object *object, Dwarf_Die die,
                     uint64_t end)
{
    struct dwarf_ranges ranges = {0};
    struct dwarf_unit unit = {.object = object, .die_offset = die_offset(object, die), .end = end};
    unit.names_nest = language_nests(die_number(object, die, DW_AT_language, 0));
    die_low_address(object, die, &unit.base);
    die_ranges(object, die, unit.base, &ranges);
    for (size_t i = 0; i < ranges.count; i++)
        address_index_add(&units->index, ranges.items[i].low, ranges.items[i].limit, units->count);
    free(ranges.items);
    units->items = heap_grow(units->items, &units->capacity, units->count + 1, sizeof(unit));
    units->items[units->count++] = unit;
}

/* The next unit's end in .debug_info; false behind the last one or at the first damaged one. */
static bool next_unit(struct dwarf_object *object, uint64_t *end)
{
    Dwarf_Unsigned length = 0, type_offset = 0, next = 0;
    Dwarf_Half version = 0, address_size = 0, length_size = 0, extension_size = 0, type = 0;
    Dwarf_Off abbreviations = 0;
    Dwarf_Sig8 signature;
    Dwarf_Error error = NULL;
    int result = dwarf_next_cu_header_d(object->debug, true, &length, &version, &abbreviations,
                                        &address_size, &length_size, &extension_size, &signature,
                                        &type_offset, &next, &type, &error);
    if (result == DW_DLV_ERROR)
        dwarf_dealloc_error(object->debug, error);
    *end = next;
    return result == DW_DLV_OK;
}

struct dwarf_units *dwarf_units_read(struct dwarf_object *object, struct arena *arena)
{
    struct dwarf_units *units = heap_alloc(sizeof(*units));
    uint64_t end, last_end = 0;
    *units = (struct dwarf_units){.arena = arena};
    while (next_unit(object, &end) && end > last_end) {
        Dwarf_Die die = die_of_current_unit(object);
        if (die)
            add_unit(units, object, die, end);
        die_free(die);
        last_end = end;
    }
    address_index_sort(&units->index);
    return units;
}

void dwarf_units_free(struct dwarf_units *units)
{
    if (!units)
        return;
    for (size_t i = 0; i < units->count; i++) {
        dwarf_lines_free(units->items[i].lines);
        dwarf_functions_free(units->items[i].functions);
    }
    address_index_done(&units->index);
    free(units->items);
    free(units);
}

size_t dwarf_units_count(const struct dwarf_units *units)
{
    return units->count;
}

struct dwarf_unit *dwarf_units_at_address(struct dwarf_units *units, uint64_t address)
{
    size_t item;
    return address_index_find(&units->index, address, &item) ? &units->items[item] : NULL;
}

struct dwarf_unit *dwarf_units_at_offset(struct dwarf_units *units, uint64_t die_offset)
{
    size_t low = 0, high = units->count; /* the first unit that ends behind the DIE */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (units->items[middle].end <= die_offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < units->count ? &units->items[low] : NULL;
}

struct dwarf_lines *dwarf_unit_lines(struct dwarf_units *units, struct dwarf_unit *unit)
{
    if (!unit->lines) {
        Dwarf_Die die = die_at(unit->object, unit->die_offset);
        unit->lines = dwarf_lines_read(unit->object, die, units->arena);
        die_free(die);
    }
    return unit->lines;
}

struct dwarf_functions *dwarf_unit_functions(struct dwarf_unit *unit)
{
    if (!unit->functions) {
        Dwarf_Die die = die_at(unit->object, unit->die_offset);
        unit->functions = dwarf_functions_read(unit->object, die, unit->base, unit->names_nest);
        die_free(die);
    }
    return unit->functions;
}
