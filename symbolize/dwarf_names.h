/* dwarf_names.h: what the function behind a DIE is called. */
#ifndef HEAPPROF_SYMBOLIZE_DWARF_NAMES_H
#define HEAPPROF_SYMBOLIZE_DWARF_NAMES_H

#include <stdint.h>

struct arena;
struct dwarf_names;
struct dwarf_object;
struct dwarf_units;

struct dwarf_name {
    const char *name;         /* as in the source, with namespaces and classes; NULL when unknown */
    const char *linkage_name; /* mangled; NULL when there is none */
    uint32_t declared_line;   /* 0 when unknown */
};

/* Names for the DIEs of object, whose units are given; all, and arena, must outlive the result.
 * Freed with dwarf_names_free, which accepts NULL. */
struct dwarf_names *dwarf_names_new(struct dwarf_object *object, struct dwarf_units *units,
                                    struct arena *arena);
void dwarf_names_free(struct dwarf_names *names);

/* The name of the subprogram or inlined subroutine at die_offset, found through its abstract origin
 * and specification, in other units too. Never NULL; lives in the arena. */
const struct dwarf_name *dwarf_names_find(struct dwarf_names *names, uint64_t die_offset);

#endif
