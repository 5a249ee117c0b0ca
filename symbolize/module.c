/* module.c: which file answers, and in which order: DWARF, then the symbol tables.
 *
 * The DWARF is the file's own or its separate debug file's. Symbol tables are read when first
 * needed: where DWARF has no name, and where it has a name that only the implementer uses. glibc's
 * DWARF calls malloc __libc_malloc; the symbol table has the exported name at the same address.
 *
 * The segments that tell virtual addresses are the mapped file's: those in a debug file made by
 * objcopy --only-keep-debug have other file offsets. When only the debug file is left (the program
 * was replaced), the start of its one executable segment is taken for the start of the mapping. */
#include "symbolize/module.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "proto/arena.h"
#include "proto/profile.h"
#include "symbolize/debug_file.h"
#include "symbolize/dwarf_module.h"
#include "symbolize/elf_file.h"
#include "symbolize/symbol_table.h"

#define PAGE_SIZE_BYTES 4096u
#define VDSO_SIZE_MAX ((uint64_t)1 << 20)

_Static_assert(MODULE_FRAMES_MAX >= DWARF_FRAMES_MAX, "room for all frames of DWARF");

struct module {
    struct elf_file *file;        /* as it was mapped; NULL when it cannot be had */
    struct elf_file *debug;       /* separate debug file, or NULL */
    struct elf_file *alternate;   /* that one's shared debug file (dwz), or NULL */
    struct dwarf_module *dwarf;   /* NULL when there is none */
    struct symbol_table *symbols; /* NULL until needed */
};

/* --- opening ------------------------------------------------------------------------------ */

/* The kernel maps the vDSO's pages whole, but tells only where they begin; the program headers,
 * in the first page, tell how long the loaded part is, and behind it to the page's end stand the
 * section headers. */
static struct elf_file *open_vdso(void)
{
    const uint8_t *image = (const uint8_t *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
    uint64_t size = 0;
    if (!image)
        return NULL;
    struct elf_file *first_page = elf_file_of_memory(image, PAGE_SIZE_BYTES, "[vdso]", NULL);
    for (uint32_t i = 0; first_page && i < first_page->segment_count; i++) {
        const struct elf_segment *segment = &first_page->segments[i];
        uint64_t end = segment->offset + segment->file_size;
        if (segment->type == PT_LOAD && end > size)
            size = end;
    }
    elf_file_close(first_page);
    size = (size + PAGE_SIZE_BYTES - 1) & ~(uint64_t)(PAGE_SIZE_BYTES - 1);
    if (size == 0 || size > VDSO_SIZE_MAX)
        return NULL;
    return elf_file_of_memory(image, (size_t)size, "[vdso]", NULL);
}

static struct elf_file *open_file(const struct profile_mapping *mapping, int descriptor,
                                  bool proof_needed)
{
    struct elf_file *file = NULL;
    bool is_vdso = strcmp(mapping->filename, "[vdso]") == 0;
    bool needs_ids = is_vdso || (proof_needed && descriptor < 0);
    if (descriptor >= 0) {
        file = elf_file_of_descriptor(descriptor, mapping->filename, NULL);
        close(descriptor);
    } else if (is_vdso) {
        file = open_vdso();
    } else if (mapping->filename[0] != '[') {
        file = elf_file_open(mapping->filename, NULL);
    }
    if (!file)
        return NULL;
    bool has_both_ids = mapping->build_id[0] != '\0' && file->build_id[0] != '\0';
    bool is_same = has_both_ids ? strcmp(file->build_id, mapping->build_id) == 0 : !needs_ids;
    if (is_same)
        return file;
    elf_file_close(file);
    return NULL;
}

static bool has_contents(const struct elf_file *file, const char *section)
{
    return elf_file_section_bytes(file, elf_file_section(file, section)).size > 0;
}

static bool has_dwarf(const struct elf_file *file)
{
    return has_contents(file, ".debug_info") || has_contents(file, ".zdebug_info");
}

static void open_debug_files(struct module *module, const struct profile_mapping *mapping,
                             const struct module_options *options)
{
    bool is_complete = module->file && has_dwarf(module->file);
    if (module->file && !is_complete)
        module->debug = debug_file_find(module->file, mapping->filename, options->debug_root);
    if (!module->file)
        module->debug = debug_file_of_build_id(mapping->build_id, options->debug_root);
    const struct elf_file *file = is_complete ? module->file : module->debug;
    if (!file || options->no_dwarf)
        return;
    const char *path = is_complete ? mapping->filename : file->name;
    module->alternate = debug_file_find_alternate(file, path, options->debug_root);
    module->dwarf = dwarf_module_open(file, module->alternate, NULL);
}

struct module *module_open(const struct profile_mapping *mapping, int descriptor,
                           const struct module_options *options)
{
    struct module *module = heap_alloc(sizeof(*module));
    *module = (struct module){.file = open_file(mapping, descriptor, options->proof_needed)};
    open_debug_files(module, mapping, options);
    return module;
}

void module_close(struct module *module)
{
    if (!module)
        return;
    dwarf_module_close(module->dwarf);
    symbol_table_free(module->symbols);
    elf_file_close(module->alternate);
    elf_file_close(module->debug);
    elf_file_close(module->file);
    free(module);
}

/* --- addresses ---------------------------------------------------------------------------- */

/* The page where the only executable segment begins; false when there are several. */
static bool text_page(const struct elf_file *file, uint64_t *page)
{
    size_t count = 0;
    for (uint32_t i = 0; i < file->segment_count; i++) {
        const struct elf_segment *segment = &file->segments[i];
        if (segment->type != PT_LOAD || !(segment->flags & PF_X))
            continue;
        *page = segment->address & ~(uint64_t)(PAGE_SIZE_BYTES - 1);
        count++;
    }
    return count == 1;
}

bool module_address(const struct module *module, const struct profile_mapping *mapping,
                    uint64_t address, uint64_t *virtual_address)
{
    uint64_t offset, page;
    if (address < mapping->memory_start || address >= mapping->memory_limit)
        return false;
    uint64_t distance = address - mapping->memory_start;
    if (__builtin_add_overflow(distance, mapping->file_offset, &offset))
        return false;
    if (module->file && elf_file_address_of_offset(module->file, offset, virtual_address))
        return true;
    *virtual_address = offset;
    if (!module->file && module->debug && text_page(module->debug, &page))
        return !__builtin_add_overflow(page, distance, virtual_address);
    return true;
}

/* --- names -------------------------------------------------------------------------------- */

static struct symbol_table *symbols_of(struct module *module)
{
    if (!module->symbols) {
        module->symbols = symbol_table_new();
        if (module->file)
            symbol_table_add(module->symbols, module->file);
        if (module->debug)
            symbol_table_add(module->symbols, module->debug);
    }
    return module->symbols;
}

static bool ends_with(const char *text, const char *end)
{
    size_t text_length = strlen(text), end_length = strlen(end);
    return end_length <= text_length && strcmp(text + text_length - end_length, end) == 0;
}

/* The name that people use for a C function. In glibc's debug information malloc has the name
 * __libc_malloc and the linkage name __GI___libc_malloc. NULL when there is no name at all. */
static const char *public_name(struct module *module, const struct dwarf_frame *frame)
{
    const char *name = frame->linkage_name ? frame->linkage_name : frame->name;
    if (!name || name[0] != '_')
        return name;
    const char *better = NULL;
    if (frame->entry)
        better = symbol_table_public_name(symbols_of(module), frame->entry, name);
    if (!better && frame->name && ends_with(name, frame->name))
        better = frame->name;
    return better ? better : name;
}

/* gcc gives functions that are local to a file no linkage name: the symbol table has the mangled
 * one. NULL when it has none. */
static const char *mangled_name(struct module *module, uint64_t entry)
{
    const struct symbol *symbol = entry ? symbol_table_find(symbols_of(module), entry) : NULL;
    bool is_mangled = symbol && symbol->address == entry &&
                      (strncmp(symbol->name, "_Z", 2) == 0 || strncmp(symbol->name, "_R", 2) == 0);
    return is_mangled ? symbol->name : NULL;
}

static struct module_frame frame_of_dwarf(struct module *module, const struct dwarf_frame *frame)
{
    struct module_frame result = {.file = frame->file,
                                  .line = frame->line,
                                  .column = frame->column,
                                  .start_line = frame->start_line};
    if (frame->names_nest) {
        result.system_name = frame->linkage_name;
        if (!result.system_name)
            result.system_name = mangled_name(module, frame->entry);
    }
    if (!result.system_name) {
        result.system_name = public_name(module, frame);
        result.is_plain = frame->names_nest && result.system_name;
    }
    return result;
}

/* Names a frame that DWARF left without one; false when the symbol tables do not know it either. */
static bool name_by_symbol(struct module *module, uint64_t virtual_address,
                           struct module_frame *frame)
{
    const struct symbol *symbol = symbol_table_find(symbols_of(module), virtual_address);
    if (symbol)
        frame->system_name = symbol->name;
    return symbol;
}

size_t module_find(struct module *module, uint64_t virtual_address,
                   struct module_frame frames[MODULE_FRAMES_MAX])
{
    struct dwarf_frame found[DWARF_FRAMES_MAX];
    size_t count = module->dwarf ? dwarf_module_find(module->dwarf, virtual_address, found) : 0;
    for (size_t i = 0; i < count; i++)
        frames[i] = frame_of_dwarf(module, &found[i]);
    if (count == 0)
        frames[count++] = (struct module_frame){.file = ""};
    struct module_frame *outermost = &frames[count - 1];
    bool is_named = outermost->system_name || name_by_symbol(module, virtual_address, outermost);
    if (!is_named)
        return 0;
    for (size_t i = 0; i < count; i++) {
        if (frames[i].system_name)
            continue;
        /* An inlined function without a name is a part of its caller. */
        frames[i].system_name = outermost->system_name;
        frames[i].is_plain = outermost->is_plain;
    }
    return count;
}
