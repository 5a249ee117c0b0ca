/* dwarf_units.h: the compile units of a file, by address. */
#ifndef HEAPPROF_SYMBOLIZE_DWARF_UNITS_H
#define HEAPPROF_SYMBOLIZE_DWARF_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct dwarf_functions;
struct dwarf_lines;
struct dwarf_object;
struct dwarf_units;

struct dwarf_unit {
    struct dwarf_object *object;
    uint64_t die_offset;       /* in .debug_info */
    uint64_t base;             /* DW_AT_low_pc, 0 when it has none */
    uint64_t end;              /* offset behind the unit in .debug_info */
    bool names_nest;           /* its language has namespaces or classes: names need qualifying */
    struct dwarf_lines *lines; /* NULL until asked for */
    struct dwarf_functions *functions; /* NULL until asked for */
};

/* Reads the heads of all units of object, which must outlive the result. Never NULL; freed with
 * dwarf_units_free, which accepts NULL. arena is for file names and must outlive it too. */
struct dwarf_units *dwarf_units_read(struct dwarf_object *object, struct arena *arena);
void dwarf_units_free(struct dwarf_units *units);
size_t dwarf_units_count(const struct dwarf_units *units);

/* The unit whose code holds address; the unit in which a DIE lies. NULL when there is none. */
struct dwarf_unit *dwarf_units_at_address(struct dwarf_units *units, uint64_t address);
struct dwarf_unit *dwarf_units_at_offset(struct dwarf_units *units, uint64_t die_offset);

/* Decoded when first asked for; never NULL. */
struct dwarf_lines *dwarf_unit_lines(struct dwarf_units *units, struct dwarf_unit *unit);
struct dwarf_functions *dwarf_unit_functions(struct dwarf_unit *unit);

#endif
