/* section_data_test.c: compressed sections in all their forms. */
#include "symbolize/section_data.h"

#include "symbolize/elf_file.h"
#include "tests/symbolize/scratch.h"

static void load_info(const char *name, struct section_data *data, struct elf_file **file)
{
    *file = elf_file_open(scratch_path(name), NULL);
    assert_non_null(*file);
    const struct elf_section *section = elf_file_section(*file, ".debug_info");
    if (!section)
        section = elf_file_section(*file, ".zdebug_info");
    assert_non_null(section);
    assert_true(section_data_load(*file, section, data));
    assert_int_equal(section_data_size(*file, section), data->size);
}

static void zlib_zstd_and_old_sections_unpack_to_the_same_bytes(void **state)
{
    (void)state;
    static const char *const forms[] = {"zlib", "zstd", "zlib-gnu"};
    scratch_write("p.c", "struct s { int a, b, c; } s; int f(struct s *x) { return x->a; }\n"
                         "int main(void) { return f(&s); }\n");
    scratch_run("gcc -g -o plain p.c");
    struct section_data plain, packed;
    struct elf_file *plain_file, *packed_file;
    load_info("plain", &plain, &plain_file);
    assert_null(plain.own);
    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
        scratch_run("objcopy --compress-debug-sections=%s plain packed", forms[i]);
        load_info("packed", &packed, &packed_file);
        assert_non_null(packed.own);
        assert_int_equal(packed.size, plain.size);
        assert_memory_equal(packed.bytes, plain.bytes, plain.size);
        section_data_done(&packed);
        elf_file_close(packed_file);
    }
    section_data_done(&plain);
    elf_file_close(plain_file);
}

static void a_promise_that_no_stream_can_keep_is_not_believed(void **state)
{
    (void)state;
    size_t size;
    scratch_write("p.c", "int main(void) { return 0; }\n");
    scratch_run("gcc -g -gz -o packed p.c");
    char *bytes = scratch_read("packed", &size);
    struct elf_file *file = elf_file_of_memory(bytes, size, "packed", NULL);
    const struct elf_section *section = elf_file_section(file, ".debug_info");
    struct section_data data;
    static const uint64_t promises[] = {UINT64_MAX, 1ull << 40, 5ull << 30, 0, 1};
    for (size_t i = 0; i < sizeof(promises) / sizeof(*promises); i++) {
        memcpy(bytes + section->offset + 8, &promises[i], sizeof(promises[i]));
        assert_false(section_data_load(file, section, &data));
        assert_null(data.bytes);
    }
    elf_file_close(file);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zlib_zstd_and_old_sections_unpack_to_the_same_bytes),
        cmocka_unit_test(a_promise_that_no_stream_can_keep_is_not_believed),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
