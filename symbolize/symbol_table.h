/* symbol_table.h: the functions that ELF symbol tables name, by address. */
#ifndef HEAPPROF_SYMBOLIZE_SYMBOL_TABLE_H
#define HEAPPROF_SYMBOLIZE_SYMBOL_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct symbol_table;

struct symbol {
    uint64_t address; /* virtual address in the ELF file */
    uint64_t size;    /* bytes; what was 0 in the file reaches to the next symbol */
    const char *name; /* mangled, without a version ("@GLIBC_2.2.5") */
};

/* An empty table; never NULL. Freed with symbol_table_free, which accepts NULL. */
struct symbol_table *symbol_table_new(void);
void symbol_table_free(struct symbol_table *table);

/* Adds the functions of the file's .symtab or, where it has none, of its .dynsym and of the symbol
 * table in .gnu_debugdata. The file must stay open as long as the table. Returns how many were
 * added; damaged symbols are left out. */
size_t symbol_table_add(struct symbol_table *table, const struct elf_file *file);

/* The symbol whose value and size hold address: the innermost one and, of several names for one
 * function, the one that people know (global before local, fewer leading underscores, shorter).
 * NULL when there is none: never merely the nearest. The result goes with the table, and the next
 * symbol_table_add makes it invalid. */
const struct symbol *symbol_table_find(struct symbol_table *table, uint64_t address);

/* Of the names that begin at address the best known one that an implementer's name ends with, as
 * "malloc" for "__libc_malloc" and "fopen" for "_IO_new_fopen"; NULL when there is none. Lives as
 * the result of symbol_table_find does. */
const char *symbol_table_public_name(struct symbol_table *table, uint64_t address,
                                     const char *implementer_name);

#endif
