/* dwarf_object.c: gives libdwarf the sections it needs, and only those.
 *
 * libdwarf's own ELF loader reads sections whole into memory, cannot unpack zstd and decodes tables
 * (location lists, aranges) that we never ask for. So it works here on an object of ours: sections
 * come from elf_file and section_data, mapped or decompressed when libdwarf first asks. Locations,
 * types, frames and accelerator tables are not shown to it.
 *
 * Deallocation lists are switched off (dwarf_set_de_alloc_flag): decoding a line table is twice as
 * fast then, and whoever gets something from libdwarf gives it back itself.
 *
 * Source: libdwarf.h, "Object File Interface". */
#include "symbolize/dwarf_object.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/arena.h"
#include "proto/error.h"
#include "symbolize/elf_file.h"
#include "symbolize/section_data.h"

#define LINE_SECTION 2 /* in section_names */

static const char *const section_names[] = {
    ".debug_info",     ".debug_abbrev", ".debug_line", ".debug_str",         ".debug_line_str",
    ".debug_rnglists", ".debug_ranges", ".debug_addr", ".debug_str_offsets",
};

#define SECTION_COUNT (sizeof(section_names) / sizeof(*section_names))

struct dwarf_sections {
    Dwarf_Obj_Access_Interface interface;
    const struct elf_file *file;
    const struct elf_section *found[SECTION_COUNT];
    struct section_data data[SECTION_COUNT];
};

/* --- what libdwarf calls; its section 0 is ELF's null section, ours begin at 1 -------------- */

static int section_info(void *context, Dwarf_Half index, Dwarf_Obj_Access_Section *info, int *error)
{
    struct dwarf_sections *sections = context;
    *error = 0;
    memset(info, 0, sizeof(*info));
    info->name = "";
    if (index > SECTION_COUNT)
        return DW_DLV_NO_ENTRY;
    if (index > 0 && sections->found[index - 1]) {
        info->name = section_names[index - 1];
        info->size = section_data_size(sections->file, sections->found[index - 1]);
        info->type = 1; /* SHT_PROGBITS */
    }
    return DW_DLV_OK;
}

static int section_load(void *context, Dwarf_Half index, Dwarf_Small **bytes, int *error)
{
    struct dwarf_sections *sections = context;
    *error = 0;
    if (index == 0 || index > SECTION_COUNT || !sections->found[index - 1])
        return DW_DLV_NO_ENTRY;
    struct section_data *data = &sections->data[index - 1];
    if (!data->bytes && !section_data_load(sections->file, sections->found[index - 1], data)) {
        *error = DW_DLE_MDE;
        return DW_DLV_ERROR;
    }
    /* libdwarf takes a pointer to non-const, but writes to sections only to relocate them. */
    *bytes = (Dwarf_Small *)(uintptr_t)data->bytes;
    return DW_DLV_OK;
}

static Dwarf_Endianness byte_order(void *context)
{
    (void)context;
    return DW_OBJECT_LSB;
}

/* DWARF's length fields are 4 bytes also in 64-bit files, but libdwarf wants ELF's word here. */
static Dwarf_Small word_size(void *context)
{
    (void)context;
    return 8;
}

static Dwarf_Unsigned section_count(void *context)
{
    (void)context;
    return SECTION_COUNT + 1;
}

static const Dwarf_Obj_Access_Methods methods = {
    .get_section_info = section_info,
    .get_byte_order = byte_order,
    .get_length_size = word_size,
    .get_pointer_size = word_size,
    .get_section_count = section_count,
    .load_section = section_load,
};

/* --- opening -------------------------------------------------------------------------------- */

/* The section called name, or its old compressed form: .zdebug_info for .debug_info. */
static const struct elf_section *find_section(const struct elf_file *file, const char *name)
{
    char old_name[32] = ".z";
    const struct elf_section *section = elf_file_section(file, name);
    if (section)
        return section;
    strncat(old_name, name + 1, sizeof(old_name) - 3);
    return elf_file_section(file, old_name);
}

static struct dwarf_sections *find_sections(const struct elf_file *file)
{
    struct dwarf_sections *sections = heap_alloc(sizeof(*sections));
    memset(sections, 0, sizeof(*sections));
    sections->file = file;
    sections->interface.object = sections;
    sections->interface.methods = &methods;
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        const struct elf_section *section = find_section(file, section_names[i]);
        if (section && elf_file_section_bytes(file, section).size > 0)
            sections->found[i] = section;
    }
    return sections;
}

struct dwarf_object *dwarf_object_open(const struct elf_file *file, struct dwarf_object *alternate,
                                       struct error *error)
{
    struct dwarf_object *object = heap_alloc(sizeof(*object));
    Dwarf_Error reason = NULL;
    *object = (struct dwarf_object){.alternate = alternate, .sections = find_sections(file)};
    int result = DW_DLV_NO_ENTRY;
    if (object->sections->found[0]) {
        dwarf_set_de_alloc_flag(0);
        result = dwarf_object_init_b(&object->sections->interface, NULL, NULL, DW_GROUPNUMBER_ANY,
                                     &object->debug, &reason);
    }
    if (result == DW_DLV_OK && alternate)
        result = dwarf_set_tied_dbg(object->debug, alternate->debug, &reason);
    if (result == DW_DLV_OK)
        return object;
    error_set(error, file->name, "%s",
              result == DW_DLV_ERROR ? dwarf_errmsg(reason) : "no debug information");
    if (reason)
        dwarf_dealloc_error(object->debug, reason);
    dwarf_object_close(object);
    return NULL;
}

const uint8_t *dwarf_object_line_section(struct dwarf_object *object, size_t *size)
{
    Dwarf_Small *bytes = NULL;
    int error = 0;
    bool ok = section_load(object->sections, LINE_SECTION + 1, &bytes, &error) == DW_DLV_OK;
    *size = ok ? object->sections->data[LINE_SECTION].size : 0;
    return bytes;
}

void dwarf_object_close(struct dwarf_object *object)
{
    if (!object)
        return;
    Dwarf_Error reason = NULL;
    if (object->debug)
        dwarf_object_finish(object->debug, &reason);
    dwarf_object_close(object->alternate);
    for (size_t i = 0; i < SECTION_COUNT; i++)
        section_data_done(&object->sections->data[i]);
    free(object->sections);
    free(object);
}
