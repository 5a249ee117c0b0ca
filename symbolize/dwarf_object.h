/* dwarf_object.h: libdwarf over one of our ELF files. */
#ifndef HEAPPROF_SYMBOLIZE_DWARF_OBJECT_H
#define HEAPPROF_SYMBOLIZE_DWARF_OBJECT_H

#include <libdwarf/libdwarf.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct error;

/* Hides the sections that libdwarf has been given. debug is libdwarf's handle; alternate is the
 * object of the shared debug file (dwz) or NULL. */
struct dwarf_object {
    Dwarf_Debug debug;
    struct dwarf_object *alternate;
    struct dwarf_sections *sections; /* private */
};

/* Opens the debug information in file, which must outlive the object. alternate, which may be NULL,
 * is taken over, also on failure. NULL, with *error filled, when there is none or libdwarf refuses
 * it. libdwarf 20210528 is not hardened against hostile input: run it where a crash does no
 * harm. Not thread-safe. */
struct dwarf_object *dwarf_object_open(const struct elf_file *file, struct dwarf_object *alternate,
                                       struct error *error);
/* The contents of .debug_line; *size is 0 when there are none. Lives as long as the object. */
const uint8_t *dwarf_object_line_section(struct dwarf_object *object, size_t *size);
/* NULL is accepted; closes the alternate too. */
void dwarf_object_close(struct dwarf_object *object);

#endif
