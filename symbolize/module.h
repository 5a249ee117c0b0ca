/* module.h: one mapped file and all that tells what its addresses are. */
#ifndef HEAPPROF_SYMBOLIZE_MODULE_H
#define HEAPPROF_SYMBOLIZE_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module;
struct profile_mapping;

/* One function at an address. Texts live as long as the module. */
struct module_frame {
    const char *system_name;           /* as in the object file, mangled; or as in the source */
    const char *file;                  /* "" when unknown */
    uint32_t line, column, start_line; /* 0 when unknown */
    bool is_plain;                     /* system_name was never mangled, in a language that does */
};

#define MODULE_FRAMES_MAX 64u

struct module_options {
    const char *debug_root; /* where separate debug files are, as DEBUG_FILE_ROOT */
    bool no_dwarf;          /* symbol tables only */
    bool proof_needed;      /* a file found by its name must have a build id, the mapping's */
};

/* Opens the file behind mapping: descriptor (taken over) or, when that is -1, mapping->filename,
 * or for "[vdso]" this process's own one; and its separate debug file. A file whose build id is not
 * the mapping's is not used. Never NULL: what cannot be opened has no names. The texts of mapping
 * and options must outlive the module. Freed with module_close, which accepts NULL. */
struct module *module_open(const struct profile_mapping *mapping, int descriptor,
                           const struct module_options *options);
void module_close(struct module *module);

/* The virtual address, in the ELF file, of an address in the process that mapping describes. Where
 * the file is not known, the offset in the file. False when address is not in the mapping. */
bool module_address(const struct module *module, const struct profile_mapping *mapping,
                    uint64_t address, uint64_t *virtual_address);

/* The functions at a virtual address, innermost first, and how many; 0 when it has no name. */
size_t module_find(struct module *module, uint64_t virtual_address,
                   struct module_frame frames[MODULE_FRAMES_MAX]);

#endif
