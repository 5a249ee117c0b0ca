/* symbol_table.c: address to function by .symtab and .dynsym.
 *
 * All functions of all tables added go into one array, sorted by address; beside each symbol stands
 * how far any symbol up to it reaches, so a lookup walks back only while some symbol can still hold
 * the address. Aliases (malloc and __libc_malloc are one address) are sorted such that the walk
 * meets the best known name first. A symbol of size 0 (hand-written assembly) reaches to the next
 * address that has a symbol, never past its section, and gives way to a symbol with a real size.
 *
 * It does not look at data symbols, and it never answers with the nearest name. */
#include "symbolize/symbol_table.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/arena.h"
#include "symbolize/elf_file.h"
#include "symbolize/section_data.h"

#define MINI_DEBUG_INFO_MAX ((size_t)64 << 20) /* unpacked .gnu_debugdata; Fedora's have 1 MB */

struct entry {
    struct symbol symbol;
    uint64_t limit; /* end of the section the symbol is in */
    uint64_t reach; /* the highest end of this symbol and all before it */
    uint32_t rank;  /* higher is better known, see rank_of */
    bool is_sized;
};

/* What the names in the table point into. */
struct source {
    struct section_data data;
    struct elf_file *file; /* inside data, NULL when data is a string table */
};

struct symbol_table {
    struct arena *arena; /* names cut at their version */
    struct entry *entries;
    size_t count, capacity;
    struct source *sources;
    size_t source_count, source_capacity;
    bool is_sorted;
};

struct symbol_table *symbol_table_new(void)
{
    struct symbol_table *table = heap_alloc(sizeof(*table));
    *table = (struct symbol_table){.arena = arena_new()};
    return table;
}

void symbol_table_free(struct symbol_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->source_count; i++) {
        elf_file_close(table->sources[i].file);
        section_data_done(&table->sources[i].data);
    }
    free(table->sources);
    free(table->entries);
    arena_free(table->arena);
    free(table);
}

static struct source *add_source(struct symbol_table *table)
{
    table->sources = heap_grow(table->sources, &table->source_capacity, table->source_count + 1,
                               sizeof(*table->sources));
    struct source *source = &table->sources[table->source_count++];
    memset(source, 0, sizeof(*source));
    return source;
}

/* --- adding ------------------------------------------------------------------------------- */

/* How well known a name for an address is. From the most to the least important: a function rather
 * than a bare label, visible outside of its file, few leading underscores (strdup, though weak,
 * before __strdup), global before weak. */
static uint32_t rank_of(const Elf64_Sym *row, const char *name)
{
    unsigned type = ELF64_ST_TYPE(row->st_info), binding = ELF64_ST_BIND(row->st_info);
    size_t underscores = strspn(name, "_");
    uint32_t rank = type == STT_NOTYPE ? 0 : 1;
    rank = rank * 2 + (binding == STB_LOCAL ? 0 : 1);
    rank = rank * 4 + (underscores > 3 ? 0 : 3 - (uint32_t)underscores);
    return rank * 2 + (binding == STB_WEAK ? 0 : 1);
}

/* The executable section that the symbol is defined in; NULL when it is none. */
static const struct elf_section *code_section(const struct elf_file *file, const Elf64_Sym *row)
{
    if (row->st_shndx == SHN_UNDEF || row->st_shndx >= file->section_count)
        return NULL;
    const struct elf_section *section = &file->sections[row->st_shndx];
    bool is_inside =
        row->st_value >= section->address && row->st_value - section->address < section->size;
    return section->flags & SHF_EXECINSTR && is_inside ? section : NULL;
}

static bool is_function_type(unsigned type)
{
    return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

/* The name up to its version; NULL when there is no name worth showing. */
static const char *plain_name(struct symbol_table *table, const struct section_data *names,
                              uint32_t offset)
{
    if (offset >= names->size || !memchr(names->bytes + offset, '\0', names->size - offset))
        return NULL;
    const char *name = (const char *)names->bytes + offset;
    if (name[0] == '\0' || strncmp(name, ".L", 2) == 0)
        return NULL;
    const char *version = strchr(name + 1, '@');
    return version ? arena_text(table->arena, name, (size_t)(version - name)) : name;
}

static bool add_row(struct symbol_table *table, const struct elf_file *file,
                    const struct section_data *names, const Elf64_Sym *row)
{
    if (!is_function_type(ELF64_ST_TYPE(row->st_info)))
        return false;
    const struct elf_section *section = code_section(file, row);
    if (!section)
        return false;
    const char *name = plain_name(table, names, row->st_name);
    uint64_t limit = section->address, end;
    if (!name || __builtin_add_overflow(limit, section->size, &limit) ||
        __builtin_add_overflow(row->st_value, row->st_size, &end))
        return false;
    table->entries =
        heap_grow(table->entries, &table->capacity, table->count + 1, sizeof(*table->entries));
    table->entries[table->count++] = (struct entry){
        .symbol = {.address = row->st_value, .size = row->st_size, .name = name},
        .limit = limit,
        .rank = rank_of(row, name),
        .is_sized = row->st_size > 0,
    };
    return true;
}

static size_t add_section(struct symbol_table *table, const struct elf_file *file,
                          const struct elf_section *section)
{
    struct section_data rows, names;
    if (section->link >= file->section_count || !section_data_load(file, section, &rows))
        return 0;
    size_t added = 0;
    if (section_data_load(file, &file->sections[section->link], &names)) {
        for (size_t at = 0; rows.size - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
            Elf64_Sym row;
            memcpy(&row, rows.bytes + at, sizeof(row));
            added += add_row(table, file, &names, &row);
        }
        add_source(table)->data = names;
    }
    section_data_done(&rows);
    return added;
}

static size_t add_sections_of_type(struct symbol_table *table, const struct elf_file *file,
                                   uint32_t type)
{
    size_t added = 0;
    for (uint32_t i = 0; i < file->section_count; i++) {
        if (file->sections[i].type == type)
            added += add_section(table, file, &file->sections[i]);
    }
    return added;
}

/* .gnu_debugdata is an xz-packed ELF file that holds little but a .symtab. */
static size_t add_mini_debug_info(struct symbol_table *table, const struct elf_file *file)
{
    struct elf_bytes packed =
        elf_file_section_bytes(file, elf_file_section(file, ".gnu_debugdata"));
    struct section_data data;
    if (!section_data_unpack_xz(packed.at, packed.size, MINI_DEBUG_INFO_MAX, &data))
        return 0;
    struct source *source = add_source(table);
    source->data = data;
    source->file = elf_file_of_memory(data.bytes, data.size, file->name, NULL);
    return source->file ? add_sections_of_type(table, source->file, SHT_SYMTAB) : 0;
}

size_t symbol_table_add(struct symbol_table *table, const struct elf_file *file)
{
    table->is_sorted = false;
    size_t added = add_sections_of_type(table, file, SHT_SYMTAB);
    if (added > 0)
        return added;
    added = add_sections_of_type(table, file, SHT_DYNSYM);
    return added + add_mini_debug_info(table, file);
}

/* --- finding ------------------------------------------------------------------------------ */

/* By address; among one address the best name comes last, for the walk goes backwards. */
static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->symbol.address != b->symbol.address)
        return a->symbol.address < b->symbol.address ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    size_t a_length = strlen(a->symbol.name), b_length = strlen(b->symbol.name);
    if (a_length != b_length)
        return a_length > b_length ? -1 : 1;
    return -strcmp(a->symbol.name, b->symbol.name);
}

static void bound_unsized(struct symbol_table *table)
{
    uint64_t next = UINT64_MAX; /* lowest address above the one at hand */
    for (size_t i = table->count; i-- > 0;) {
        struct entry *entry = &table->entries[i];
        if (i + 1 < table->count && entry[1].symbol.address > entry->symbol.address)
            next = entry[1].symbol.address;
        if (!entry->is_sized)
            entry->symbol.size =
                (next < entry->limit ? next : entry->limit) - entry->symbol.address;
    }
}

static void sort_entries(struct symbol_table *table)
{
    if (table->count > 1)
        qsort(table->entries, table->count, sizeof(*table->entries), compare_entries);
    bound_unsized(table);
    uint64_t reach = 0;
    for (size_t i = 0; i < table->count; i++) {
        uint64_t end = table->entries[i].symbol.address + table->entries[i].symbol.size;
        reach = end > reach ? end : reach;
        table->entries[i].reach = reach;
    }
    table->is_sorted = true;
}

/* How many entries begin at or below address. */
static size_t count_up_to(const struct symbol_table *table, uint64_t address)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->entries[middle].symbol.address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct symbol *symbol_table_find(struct symbol_table *table, uint64_t address)
{
    const struct symbol *unsized = NULL;
    if (!table->is_sorted)
        sort_entries(table);
    for (size_t i = count_up_to(table, address); i-- > 0;) {
        const struct entry *entry = &table->entries[i];
        if (entry->reach <= address)
            break;
        if (address - entry->symbol.address >= entry->symbol.size)
            continue;
        if (entry->is_sized)
            return &entry->symbol;
        if (!unsized)
            unsized = &entry->symbol;
    }
    return unsized;
}

static bool ends_with(const char *text, const char *end)
{
    size_t text_length = strlen(text), end_length = strlen(end);
    return end_length < text_length && strcmp(text + text_length - end_length, end) == 0;
}

const char *symbol_table_public_name(struct symbol_table *table, uint64_t address,
                                     const char *implementer_name)
{
    if (!table->is_sorted)
        sort_entries(table);
    for (size_t i = count_up_to(table, address); i-- > 0;) {
        const struct symbol *symbol = &table->entries[i].symbol;
        if (symbol->address != address)
            break;
        if (ends_with(implementer_name, symbol->name))
            return symbol->name;
    }
    return NULL;
}
