/* dwarf_lines.h: the line table of one compile unit. */
#ifndef HEAPPROF_SYMBOLIZE_DWARF_LINES_H
#define HEAPPROF_SYMBOLIZE_DWARF_LINES_H

#include <libdwarf/libdwarf.h>
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct dwarf_object;
struct dwarf_lines;

struct dwarf_line {
    const char *file; /* absolute where the compiler tells its directory; "" when unknown */
    uint32_t line;    /* 0 when unknown */
    uint32_t column;  /* 0 when unknown */
};

/* Decodes the line table of the unit whose DIE is given (NULL: none). Never NULL: a damaged or
 * missing table is empty. File names live in arena. Freed with dwarf_lines_free, which accepts
 * NULL. */
struct dwarf_lines *dwarf_lines_read(struct dwarf_object *object, Dwarf_Die unit_die,
                                     struct arena *arena);
void dwarf_lines_free(struct dwarf_lines *lines);

/* The row that holds address. False when no sequence of the table does. */
bool dwarf_lines_find(const struct dwarf_lines *lines, uint64_t address, struct dwarf_line *line);

/* The name of the file that DW_AT_decl_file and DW_AT_call_file call number; "" when there is no
 * such file. Lives in the arena. */
const char *dwarf_lines_file(const struct dwarf_lines *lines, uint64_t number);

#endif
