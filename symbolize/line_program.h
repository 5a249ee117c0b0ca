/* line_program.h: runs one line number program of .debug_line. */
#ifndef HEAPPROF_SYMBOLIZE_LINE_PROGRAM_H
#define HEAPPROF_SYMBOLIZE_LINE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_row {
    uint64_t address;
    uint32_t file;   /* number in the program's file table */
    uint32_t line;   /* 0: no line of the source */
    uint32_t column; /* 0: unknown */
    bool is_end;     /* only address counts: the first one behind the sequence */
};

/* A zeroed one is empty; items is freed with free. */
struct line_rows {
    struct line_row *items;
    size_t count, capacity;
    uint16_t version; /* of the program: file numbers begin at 0 in 5, at 1 before */
};

/* Appends the rows of the program at offset of the section (a DW_AT_stmt_list) in the order in
 * which it makes them. False when the program is damaged or of an unknown version; the rows before
 * the damage stay. At most one row a byte of the section. Reads nothing outside of the section. */
bool line_program_run(const uint8_t *section, size_t size, uint64_t offset, struct line_rows *rows);

#endif
