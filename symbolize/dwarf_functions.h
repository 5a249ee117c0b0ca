/* dwarf_functions.h: the functions of one compile unit and what is inlined into them. */
#ifndef HEAPPROF_SYMBOLIZE_DWARF_FUNCTIONS_H
#define HEAPPROF_SYMBOLIZE_DWARF_FUNCTIONS_H

#include <libdwarf/libdwarf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_functions;
struct dwarf_object;

/* One function on the way from the one that was really called to the innermost inlined one. */
struct dwarf_scope {
    uint64_t die_offset; /* of the DW_TAG_subprogram or DW_TAG_inlined_subroutine */
    uint64_t entry;      /* lowest address of a real function; 0 for an inlined one */
    uint64_t call_file;  /* of an inlined one: where it was called, else 0 */
    uint32_t call_line, call_column;
};

#define DWARF_SCOPES_MAX 64u

/* Reads which functions the unit has (unit_die NULL: none). base is the unit's low_pc;
 * nests tells whether its language has functions inside namespaces and classes. Never NULL;
 * freed with dwarf_functions_free, which accepts NULL. object must outlive it. */
struct dwarf_functions *dwarf_functions_read(struct dwarf_object *object, Dwarf_Die unit_die,
                                             uint64_t base, bool nests);
void dwarf_functions_free(struct dwarf_functions *functions);

/* Fills scopes with the function that holds address and those inlined into it there, outermost
 * first, and returns how many there are; 0 when no function holds it. Deeper levels than
 * DWARF_SCOPES_MAX are left out. */
size_t dwarf_functions_find(struct dwarf_functions *functions, uint64_t address,
                            struct dwarf_scope scopes[DWARF_SCOPES_MAX]);

/* The names of the namespaces and classes around the DIE at die_offset, outermost first, into
 * names; returns how many. For units whose functions have no linkage names. */
size_t dwarf_functions_containers(const struct dwarf_functions *functions, uint64_t die_offset,
                                  const char **names, size_t capacity);

#endif
