/* dwarf_die.h: DIEs (debugging information entries) and their attributes, without libdwarf's
 * three-way results: what cannot be read is simply not there.
 *
 * object is always the one that the DIE is in. A Dwarf_Die that a function gives is freed by the
 * caller with die_free. */
#ifndef HEAPPROF_SYMBOLIZE_DWARF_DIE_H
#define HEAPPROF_SYMBOLIZE_DWARF_DIE_H

#include <libdwarf/libdwarf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_object;

/* Addresses low to limit - 1. */
struct dwarf_range {
    uint64_t low, limit;
};

struct dwarf_ranges {
    struct dwarf_range *items; /* freed with free */
    size_t count, capacity;
};

/* The DIE at an offset of .debug_info, NULL when there is none. */
Dwarf_Die die_at(struct dwarf_object *object, uint64_t offset);
/* The DIE of the unit whose header libdwarf has read last; NULL when it is damaged. */
Dwarf_Die die_of_current_unit(struct dwarf_object *object);
/* NULL is accepted. */
void die_free(Dwarf_Die die);

Dwarf_Half die_tag(struct dwarf_object *object,
                   Dwarf_Die die); /* DW_TAG_*, 0 when it cannot be read */
uint64_t die_offset(struct dwarf_object *object,
                    Dwarf_Die die); /* in .debug_info; 0 when it cannot be read */

/* The first child or the next sibling; NULL when there is none. A sibling always lies behind its
 * predecessor, so that walks end on damaged input too. */
Dwarf_Die die_child(struct dwarf_object *object, Dwarf_Die die);
Dwarf_Die die_sibling(struct dwarf_object *object, Dwarf_Die die);

/* An attribute's value; fallback when it is missing or of another class. The text lives as long as
 * the object. */
uint64_t die_number(struct dwarf_object *object, Dwarf_Die die, Dwarf_Half attribute,
                    uint64_t fallback);
const char *die_text(struct dwarf_object *object, Dwarf_Die die, Dwarf_Half attribute);
/* An offset into another section (DW_AT_stmt_list); UINT64_MAX when there is none. */
uint64_t die_section_offset(struct dwarf_object *object, Dwarf_Die die, Dwarf_Half attribute);
/* DW_AT_low_pc. */
bool die_low_address(struct dwarf_object *object, Dwarf_Die die, uint64_t *address);

/* The DIE that a reference attribute names: its object (the DIE's own or its alternate) and offset.
 * False when there is none. References by type signature are not followed. */
bool die_reference(struct dwarf_object *object, Dwarf_Die die, Dwarf_Half attribute,
                   struct dwarf_object **target, uint64_t *offset);

/* Appends the addresses of a DIE: low_pc and high_pc, or ranges of DWARF 3 to 5. base is the
 * unit's low_pc. Ranges that begin at 0 or end before they begin are left out: linkers leave them
 * for code that was dropped. */
void die_ranges(struct dwarf_object *object, Dwarf_Die die, uint64_t base,
                struct dwarf_ranges *ranges);

#endif
