/* line_program_test.c: line programs written byte by byte, good and damaged. */
#include "symbolize/line_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* DWARF 5 header with opcode_base 10, line_base -3, line_range 12; then the program. The array has
 * one byte more: the NUL of the last literal. */
static const uint8_t program_5[] = "\x35\0\0\0"
                                   "\5\0"
                                   "\x8\0"
                                   "\xf\0\0\0" /* length, version, sizes, header length */
                                   "\1\1\1"
                                   "\xfd\xc\xa" /* instruction, operations, is_stmt; bases */
                                   "\0\1\1\1\1\0\0\0\1" /* operand counts of opcodes 1 to 9 */
                                   "\0\x9\2"
                                   "\x00\x10\0\0\0\0\0\0" /* set_address 0x1000 */
                                   "\5\7"                 /* set_column 7 */
                                   "\1"                   /* copy: file 1, line 1 */
                                   "\4\0"                 /* set_file 0 */
                                   "\3\x7f"               /* advance_line -1 */
                                   "\x29" /* special 10 + 7 + 12 * 2: address + 2, line + 4 */
                                   "\x8"  /* const_add_pc: (255 - 10) / 12 = 20 */
                                   "\x9\x00\x01" /* fixed_advance_pc 256 */
                                   "\1"          /* copy */
                                   "\2\x81\x01"  /* advance_pc 129 */
                                   "\0\1\1";     /* end_sequence */

#define PROGRAM_SIZE (sizeof(program_5) - 1)

static void the_machine_makes_the_rows_of_the_standard(void **state)
{
    (void)state;
    struct line_rows rows = {0};
    assert_int_equal(PROGRAM_SIZE, 57);
    assert_true(line_program_run(program_5, PROGRAM_SIZE, 0, &rows));
    static const struct line_row expected[] = {
        {0x1000, 1, 1, 7, false}, /* the file register begins at 1, in DWARF 5 too */
        {0x1002, 0, 4, 7, false},
        {0x1002 + 20 + 256, 0, 4, 7, false},
        {0x1002 + 20 + 256 + 129, 0, 4, 7, true},
    };
    assert_int_equal(rows.version, 5);
    assert_int_equal(rows.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(rows.items[i].address, expected[i].address);
        assert_int_equal(rows.items[i].file, expected[i].file);
        assert_int_equal(rows.items[i].line, expected[i].line);
        assert_int_equal(rows.items[i].column, expected[i].column);
        assert_int_equal(rows.items[i].is_end, expected[i].is_end);
    }
    free(rows.items);
}

static void a_program_cut_anywhere_fails_and_keeps_what_it_had(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < PROGRAM_SIZE; cut++) {
        uint8_t *copy = malloc(cut + 1);
        struct line_rows rows = {0};
        memcpy(copy, program_5, cut);
        assert_false(line_program_run(copy, cut, 0, &rows));
        free(copy);
        copy = malloc(PROGRAM_SIZE); /* the unit ends early, the section does not */
        memcpy(copy, program_5, PROGRAM_SIZE);
        copy[0] = (uint8_t)(cut > 4 ? cut - 4 : 0);
        rows.count = 0;
        line_program_run(copy, PROGRAM_SIZE, 0, &rows);
        assert_true(rows.count <= 4);
        if (cut >= 50)
            assert_true(rows.count >= 2);
        free(copy);
        free(rows.items);
    }
}

static void any_bytes_at_all_do_no_harm(void **state)
{
    (void)state;
    uint32_t random = 1;
    for (int round = 0; round < 20000; round++) {
        uint8_t *copy = malloc(PROGRAM_SIZE);
        struct line_rows rows = {0};
        memcpy(copy, program_5, PROGRAM_SIZE);
        for (int flips = 0; flips < 3; flips++) {
            random = random * 1664525 + 1013904223;
            copy[(random >> 8) % PROGRAM_SIZE] = (uint8_t)(random >> 24);
        }
        line_program_run(copy, PROGRAM_SIZE, random % 3 == 0 ? random % 70 : 0, &rows);
        assert_true(rows.count <= PROGRAM_SIZE);
        free(rows.items);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_machine_makes_the_rows_of_the_standard),
        cmocka_unit_test(a_program_cut_anywhere_fails_and_keeps_what_it_had),
        cmocka_unit_test(any_bytes_at_all_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
