/* dwarf_lines.c: address to file, line and column.
 *
 * A table is a list of sequences: rows with rising addresses, closed by a row whose address is the
 * first one behind. Between two rows the earlier one holds. Sequences lie in any order and those of
 * dropped functions all begin at 0: they are left out.
 *
 * File numbers count from 0 since DWARF 5 and from 1 before; libdwarf's array of full names has the
 * first file at index 0 in both. Source: DWARF 5, section 6.2. */
#include "symbolize/dwarf_lines.h"

#include <libdwarf/dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "proto/arena.h"
#include "symbolize/address_index.h"
#include "symbolize/dwarf_die.h"
#include "symbolize/dwarf_object.h"
#include "symbolize/line_program.h"

struct sequence {
    size_t first, count; /* rows */
};

struct dwarf_lines {
    struct line_rows rows;
    struct sequence *sequences;
    size_t sequence_count, sequence_capacity;
    struct address_index index; /* of sequences */
    const char **files;
    size_t file_count;
    uint64_t first_file; /* number of files[0] */
};

/* --- files -------------------------------------------------------------------------------- */

static void read_files(struct dwarf_lines *lines, struct dwarf_object *object, Dwarf_Die unit_die,
                       struct arena *arena)
{
    char **names = NULL;
    Dwarf_Signed count = 0;
    Dwarf_Error error = NULL;
    int result = dwarf_srcfiles(unit_die, &names, &count, &error);
    if (result == DW_DLV_ERROR)
        dwarf_dealloc_error(object->debug, error);
    if (result != DW_DLV_OK)
        return;
    lines->first_file = lines->rows.version >= 5 ? 0 : 1;
    lines->file_count = (size_t)count;
    lines->files = arena_array(arena, lines->file_count, sizeof(*lines->files));
    for (size_t i = 0; i < lines->file_count; i++) {
        lines->files[i] = arena_text(arena, names[i], strlen(names[i]));
        dwarf_dealloc(object->debug, names[i], DW_DLA_STRING);
    }
    dwarf_dealloc(object->debug, names, DW_DLA_LIST);
}

const char *dwarf_lines_file(const struct dwarf_lines *lines, uint64_t number)
{
    if (number < lines->first_file || number - lines->first_file >= lines->file_count)
        return "";
    return lines->files[number - lines->first_file];
}

/* --- rows --------------------------------------------------------------------------------- */

/* Rows first .. end - 1 and the address behind them. Rows that go back (damage) are not taken. */
static void add_sequence(struct dwarf_lines *lines, size_t first, size_t end, uint64_t limit)
{
    const struct line_row *rows = lines->rows.items;
    if (first == end || rows[first].address == 0)
        return;
    for (size_t i = first + 1; i < end; i++) {
        if (rows[i].address < rows[i - 1].address)
            return;
    }
    lines->sequences = heap_grow(lines->sequences, &lines->sequence_capacity,
                                 lines->sequence_count + 1, sizeof(*lines->sequences));
    lines->sequences[lines->sequence_count] = (struct sequence){first, end - first};
    address_index_add(&lines->index, rows[first].address, limit, lines->sequence_count);
    lines->sequence_count++;
}

static void find_sequences(struct dwarf_lines *lines)
{
    size_t first = 0;
    for (size_t i = 0; i < lines->rows.count; i++) {
        if (!lines->rows.items[i].is_end)
            continue;
        add_sequence(lines, first, i, lines->rows.items[i].address);
        first = i + 1;
    }
    address_index_sort(&lines->index);
}

struct dwarf_lines *dwarf_lines_read(struct dwarf_object *object, Dwarf_Die unit_die,
                                     struct arena *arena)
{
    struct dwarf_lines *lines = heap_alloc(sizeof(*lines));
    memset(lines, 0, sizeof(*lines));
    uint64_t offset = unit_die ? die_section_offset(object, unit_die, DW_AT_stmt_list) : UINT64_MAX;
    if (offset == UINT64_MAX)
        return lines;
    size_t size;
    const uint8_t *section = dwarf_object_line_section(object, &size);
    line_program_run(section, size, offset, &lines->rows); /* what it made before damage is good */
    find_sequences(lines);
    read_files(lines, object, unit_die, arena);
    return lines;
}

void dwarf_lines_free(struct dwarf_lines *lines)
{
    if (!lines)
        return;
    address_index_done(&lines->index);
    free(lines->sequences);
    free(lines->rows.items);
    free(lines);
}

bool dwarf_lines_find(const struct dwarf_lines *lines, uint64_t address, struct dwarf_line *line)
{
    size_t item;
    if (!address_index_find(&lines->index, address, &item))
        return false;
    const struct line_row *rows = &lines->rows.items[lines->sequences[item].first];
    size_t low = 0, high = lines->sequences[item].count; /* rows[low] is at or before address */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (rows[middle].address <= address)
            low = middle;
        else
            high = middle;
    }
    *line = (struct dwarf_line){.file = dwarf_lines_file(lines, rows[low].file),
                                .line = rows[low].line,
                                .column = rows[low].column};
    return true;
}
