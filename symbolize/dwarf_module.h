/* dwarf_module.h: an address of one file to its functions and lines, by DWARF. */
#ifndef HEAPPROF_SYMBOLIZE_DWARF_MODULE_H
#define HEAPPROF_SYMBOLIZE_DWARF_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_module;
struct elf_file;
struct error;

/* One function at an address. Texts live as long as the module. */
struct dwarf_frame {
    const char *name;         /* as in the source; NULL when unknown */
    const char *linkage_name; /* mangled; NULL when there is none */
    const char *file;         /* "" when unknown */
    uint32_t line, column;    /* 0 when unknown */
    uint32_t start_line;      /* of the function's declaration, 0 when unknown */
    uint64_t entry;           /* virtual address of a real function, 0 for an inlined one */
    bool names_nest;          /* the language has namespaces or classes */
};

#define DWARF_FRAMES_MAX 64u

/* Opens the DWARF in file; alternate is the file that .gnu_debugaltlink names, or NULL. Both must
 * outlive the module. NULL, with *error filled, when there is none. Decodes units only when an
 * address in them is asked for. libdwarf may crash on hostile input: run it in a process that may.
 * Not thread-safe. */
struct dwarf_module *dwarf_module_open(const struct elf_file *file,
                                       const struct elf_file *alternate, struct error *error);
/* NULL is accepted. */
void dwarf_module_close(struct dwarf_module *module);

/* The functions at a virtual address of the file, innermost first, and how many. 0 when nothing is
 * known; a single frame without a name when only the line is. */
size_t dwarf_module_find(struct dwarf_module *module, uint64_t address,
                         struct dwarf_frame frames[DWARF_FRAMES_MAX]);

#endif
