/* line_program.c: the state machine of the line table, DWARF 2 to 5.
 *
 * Why not libdwarf's: version 20210528 starts the file register of DWARF 5 programs at 0 where the
 * standard says 1, so the first rows of many C++ functions land in the wrong file, and which rows
 * these are cannot be told from its result. It also allocates an object a row. Only the program is
 * run here; the table of file names before it is left to libdwarf.
 *
 * The section is untrusted: all reads go through one reader that fails for good at the first read
 * past its end. Instructions are assumed to hold one operation (not VLIW).
 *
 * Source: DWARF 5, section 6.2, and the same of DWARF 2 to 4. */
#include "symbolize/line_program.h"

#include <libdwarf/dwarf.h>
#include <string.h>

#include "proto/arena.h"

struct reader {
    const uint8_t *at;
    size_t left;
    bool failed;
};

struct program {
    uint16_t version;
    uint8_t min_instruction_length;
    int8_t line_base;
    uint8_t line_range;
    uint8_t opcode_base;
    uint8_t operand_counts[256]; /* of standard opcodes, by opcode */
};

/* The registers of the state machine that we keep. */
struct state {
    uint64_t address, file, column;
    int64_t line;
};

/* --- the reader --------------------------------------------------------------------------- */

static bool take(struct reader *reader, size_t size)
{
    if (reader->failed || size > reader->left) {
        reader->failed = true;
        return false;
    }
    reader->at += size;
    reader->left -= size;
    return true;
}

static uint64_t read_fixed(struct reader *reader, size_t size)
{
    uint64_t value = 0;
    if (take(reader, size))
        memcpy(&value, reader->at - size, size);
    return value;
}

static uint8_t read_byte(struct reader *reader)
{
    return (uint8_t)read_fixed(reader, 1);
}

/* Bits past 64 are dropped. */
static uint64_t read_unsigned(struct reader *reader)
{
    uint64_t value = 0;
    uint8_t byte;
    unsigned shift = 0;
    do {
        byte = read_byte(reader);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80 && !reader->failed && shift < 640);
    return value;
}

static int64_t read_signed(struct reader *reader)
{
    uint64_t value = 0;
    uint8_t byte;
    unsigned shift = 0;
    do {
        byte = read_byte(reader);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80 && !reader->failed && shift < 640);
    if (shift < 64 && byte & 0x40)
        value |= UINT64_MAX << shift;
    return (int64_t)value;
}

/* --- the header --------------------------------------------------------------------------- */

/* Narrows reader to the unit and reads its header; behind it reader stands on the program. */
static bool read_header(struct reader *reader, struct program *program)
{
    uint64_t length = read_fixed(reader, 4);
    size_t offset_size = 4;
    if (length == UINT32_MAX) {
        offset_size = 8;
        length = read_fixed(reader, 8);
    }
    if (reader->failed || length > reader->left)
        return false;
    reader->left = (size_t)length;
    program->version = (uint16_t)read_fixed(reader, 2);
    if (program->version < 2 || program->version > 5)
        return false;
    if (program->version >= 5)
        take(reader, 2); /* sizes of addresses and segment selectors */
    uint64_t header_length = read_fixed(reader, offset_size);
    if (reader->failed || header_length > reader->left)
        return false;
    struct reader header = {reader->at, (size_t)header_length, false};
    take(reader, (size_t)header_length);
    program->min_instruction_length = read_byte(&header);
    if (program->version >= 4)
        take(&header, 1); /* operations an instruction */
    take(&header, 1);     /* is_stmt at the start */
    program->line_base = (int8_t)read_byte(&header);
    program->line_range = read_byte(&header);
    program->opcode_base = read_byte(&header);
    for (unsigned opcode = 1; opcode < program->opcode_base; opcode++)
        program->operand_counts[opcode] = read_byte(&header);
    return !header.failed && program->line_range > 0 && program->opcode_base > 0;
}

/* --- the program -------------------------------------------------------------------------- */

static uint32_t clipped(uint64_t value)
{
    return value > UINT32_MAX ? 0 : (uint32_t)value;
}

static void emit(const struct state *state, struct line_rows *rows, bool is_end)
{
    rows->items = heap_grow(rows->items, &rows->capacity, rows->count + 1, sizeof(*rows->items));
    rows->items[rows->count++] = (struct line_row){
        .address = state->address,
        .file = clipped(state->file),
        .line = state->line < 0 ? 0 : clipped((uint64_t)state->line),
        .column = clipped(state->column),
        .is_end = is_end,
    };
}

static void reset(struct state *state)
{
    *state = (struct state){.file = 1, .line = 1};
}

/* Lines may not overflow on damaged input: they wrap like unsigned numbers. */
static void advance_line(struct state *state, int64_t by)
{
    state->line = (int64_t)((uint64_t)state->line + (uint64_t)by);
}

static void run_special(const struct program *program, uint8_t opcode, struct state *state,
                        struct line_rows *rows)
{
    unsigned adjusted = (unsigned)opcode - program->opcode_base;
    state->address += (uint64_t)program->min_instruction_length * (adjusted / program->line_range);
    advance_line(state, program->line_base + (int)(adjusted % program->line_range));
    emit(state, rows, false);
}

static void run_extended(struct reader *reader, struct state *state, struct line_rows *rows)
{
    uint64_t length = read_unsigned(reader);
    if (reader->failed || length == 0 || length > reader->left) {
        reader->failed = true;
        return;
    }
    struct reader operands = {reader->at, (size_t)length, false};
    take(reader, (size_t)length);
    uint8_t opcode = read_byte(&operands);
    if (opcode == DW_LNE_end_sequence) {
        emit(state, rows, true);
        reset(state);
    } else if (opcode == DW_LNE_set_address && operands.left <= sizeof(state->address)) {
        state->address = read_fixed(&operands, operands.left);
    } /* others, of vendors too, do not change what we keep */
}

static void run_standard(const struct program *program, uint8_t opcode, struct reader *reader,
                         struct state *state, struct line_rows *rows)
{
    uint64_t step = program->min_instruction_length;
    switch (opcode) {
    case DW_LNS_copy:
        emit(state, rows, false);
        break;
    case DW_LNS_advance_pc:
        state->address += step * read_unsigned(reader);
        break;
    case DW_LNS_advance_line:
        advance_line(state, read_signed(reader));
        break;
    case DW_LNS_set_file:
        state->file = read_unsigned(reader);
        break;
    case DW_LNS_set_column:
        state->column = read_unsigned(reader);
        break;
    case DW_LNS_const_add_pc:
        state->address += step * ((255u - program->opcode_base) / program->line_range);
        break;
    case DW_LNS_fixed_advance_pc:
        state->address += read_fixed(reader, 2);
        break;
    default: /* is_stmt, basic blocks, prologue marks, and opcodes yet unknown */
        for (unsigned i = 0; i < program->operand_counts[opcode]; i++)
            read_unsigned(reader);
        break;
    }
}

bool line_program_run(const uint8_t *section, size_t size, uint64_t offset, struct line_rows *rows)
{
    if (offset >= size)
        return false;
    struct reader reader = {section + offset, size - (size_t)offset, false};
    struct program program = {0};
    if (!read_header(&reader, &program))
        return false;
    rows->version = program.version;
    struct state state;
    reset(&state);
    while (reader.left > 0 && !reader.failed) {
        uint8_t opcode = read_byte(&reader);
        if (opcode >= program.opcode_base)
            run_special(&program, opcode, &state, rows);
        else if (opcode == 0)
            run_extended(&reader, &state, rows);
        else
            run_standard(&program, opcode, &reader, &state, rows);
    }
    return !reader.failed;
}
