/* elf_file_test.c: real, cut and damaged ELF files through the bounded reader. */
#include "symbolize/elf_file.h"

#include "proto/error.h"
#include "symbolize/section_data.h"
#include "symbolize/symbol_table.h"
#include "tests/symbolize/scratch.h"

#include <elf.h>
#include <zlib.h>

static void build_program(const char *flags)
{
    scratch_write("p.c", "int answer(int x) { return x * 42; }\n"
                         "int main(int c, char **v) { (void)v; return answer(c); }\n");
    scratch_run("gcc %s -o p p.c", flags);
}

static void a_program_shows_its_sections_segments_and_build_id(void **state)
{
    (void)state;
    struct error error = {""};
    build_program("-g -O1 -Wl,--build-id=0x00112233445566778899AABBccddeeff00112233");
    struct elf_file *file = elf_file_open(scratch_path("p"), &error);
    assert_non_null(file);
    assert_string_equal(file->build_id, "00112233445566778899aabbccddeeff00112233");
    const struct elf_section *text = elf_file_section(file, ".text");
    assert_non_null(text);
    assert_true(text->flags & SHF_EXECINSTR);
    assert_null(elf_file_section(file, ".no_such_section"));
    uint64_t address = 0;
    assert_true(elf_file_address_of_offset(file, text->offset + 5, &address));
    assert_int_equal(address, text->address + 5);
    assert_false(elf_file_address_of_offset(file, UINT64_MAX, &address));
    assert_int_equal(elf_file_section_bytes(file, elf_file_section(file, ".bss")).size, 0);
    elf_file_close(file);
}

static void the_debug_link_tells_name_and_crc(void **state)
{
    (void)state;
    build_program("-g");
    scratch_run("objcopy --only-keep-debug p p.debug && strip -g p && "
                "objcopy --add-gnu-debuglink=p.debug p");
    struct elf_file *file = elf_file_open(scratch_path("p"), NULL);
    struct elf_file *debug = elf_file_open(scratch_path("p.debug"), NULL);
    const char *name = NULL;
    uint32_t crc = 0;
    assert_true(elf_file_debug_link(file, &name, &crc));
    assert_string_equal(name, "p.debug");
    assert_int_equal(crc, elf_file_crc(debug));
    assert_string_equal(file->build_id, debug->build_id);
    assert_false(elf_file_debug_link(debug, &name, &crc));
    elf_file_close(file);
    elf_file_close(debug);
}

static void what_is_no_elf_file_is_refused_in_words(void **state)
{
    (void)state;
    static const struct {
        const char *command, *reason;
    } cases[] = {
        {"rm -f x", "cannot be opened"},
        {"rm -rf x && mkdir x", "not a regular file"},
        {"rm -rf x && : > x", "empty file"},
        {"echo '#!/bin/sh, and then some more text, 64 bytes at least, to be safe' > x",
         "not an ELF file"},
        {"printf '\\177ELF' > x", "truncated ELF header"},
        {"head -c 64 p > x && printf '\\001' | dd of=x bs=1 seek=4 conv=notrunc status=none",
         "not an x86-64 ELF file"},
        {"rm -f x && mkfifo x", "not a regular file"},
    };
    build_program("-g");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct error error = {""};
        scratch_run("%s", cases[i].command);
        assert_null(elf_file_open(scratch_path("x"), &error));
        assert_non_null(strstr(error.text, cases[i].reason));
        assert_non_null(strstr(error.text, scratch_path("x")));
    }
}

/* Everything that can be asked of a file; sanitizers and the guard page watch. */
static void ask_everything(const uint8_t *bytes, size_t size)
{
    struct elf_file *file = elf_file_of_memory(bytes, size, "damaged", NULL);
    if (!file)
        return;
    struct symbol_table *table = symbol_table_new();
    const char *name;
    uint32_t crc;
    uint64_t address;
    char id[2 * ELF_BUILD_ID_BYTES + 1];
    for (uint32_t i = 0; i < file->section_count; i++) {
        struct section_data data;
        if (section_data_load(file, &file->sections[i], &data) && data.own)
            crc32_z(0, data.bytes, data.size);
        section_data_done(&data);
    }
    elf_file_debug_link(file, &name, &crc);
    elf_file_debug_alt_link(file, &name, id);
    elf_file_address_of_offset(file, 0x1000, &address);
    symbol_table_add(table, file);
    for (uint64_t at = 0; at < 0x6000; at += 0x11)
        symbol_table_find(table, at);
    symbol_table_free(table);
    elf_file_close(file);
}

static void a_file_cut_anywhere_does_no_harm(void **state)
{
    (void)state;
    size_t size;
    build_program("-g -gz");
    char *bytes = scratch_read("p", &size);
    for (size_t cut = 0; cut < size; cut += cut < 2048 ? 1 : 97) {
        uint8_t *copy = malloc(cut + 1); /* exact size: the sanitizer sees the end */
        memcpy(copy, bytes, cut);
        ask_everything(copy, cut);
        free(copy);
    }
    free(bytes);
}

static void flipped_bytes_do_no_harm(void **state)
{
    (void)state;
    size_t size;
    uint32_t random = 12345;
    build_program("-g -gz");
    char *bytes = scratch_read("p", &size);
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof(header));
    for (int round = 0; round < 3000; round++) {
        char *copy = malloc(size);
        memcpy(copy, bytes, size);
        for (int flips = 0; flips < 4; flips++) {
            random = random * 1664525 + 1013904223;
            size_t area = (size_t)header.e_shnum * sizeof(Elf64_Shdr), at = random >> 4;
            /* two of three in the headers, where it hurts */
            at = round % 3 == 0   ? at % size
                 : round % 3 == 1 ? at % 1024
                                  : header.e_shoff + at % area;
            copy[at] = (char)(random >> 24);
        }
        ask_everything((uint8_t *)copy, size);
        free(copy);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_shows_its_sections_segments_and_build_id),
        cmocka_unit_test(the_debug_link_tells_name_and_crc),
        cmocka_unit_test(what_is_no_elf_file_is_refused_in_words),
        cmocka_unit_test(a_file_cut_anywhere_does_no_harm),
        cmocka_unit_test(flipped_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
