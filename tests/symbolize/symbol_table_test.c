/* symbol_table_test.c: which name an address has, and when it has none. */
#include "symbolize/symbol_table.h"

#include "symbolize/elf_file.h"
#include "tests/symbolize/scratch.h"

/* Sized functions, aliases of every kind, labels without a size, and gaps between them. */
static const char assembly[] =
    ".text\n"
    ".macro function name, size\n"
    ".globl \\name\n .type \\name, @function\n \\name: .zero \\size\n .size \\name, \\size\n"
    ".endm\n"
    ".zero 16\n"
    "function first 32\n"
    ".zero 16\n" /* a gap: nobody's */
    "function __libc_work 32\n"
    ".globl work, __work, visible\n .weak visible\n"
    ".set work, __libc_work\n .set __work, __libc_work\n"
    ".type work, @function\n .type __work, @function\n .size work, 32\n .size __work, 32\n"
    "function __strong 16\n .set visible, __strong\n .type visible, @function\n .size visible, 16\n"
    "local_name: .type local_name, @function\n .globl _global_name\n"
    ".type _global_name, @function\n _global_name: .zero 16\n"
    ".size local_name, 16\n .size _global_name, 16\n"
    ".globl outer\n .type outer, @function\n outer: .zero 16\n"
    "label_inside: .zero 48\n .size outer, 64\n" /* without size inside a sized one */
    ".zero 16\n"
    ".type no_size, @function\n no_size: .zero 32\n"
    ".globl bare_label\n bare_label: .zero 32\n"
    "function last 16\n"
    "function versioned_old 16\n .symver versioned_old, versioned@VERSION_1\n"
    ".section .other, \"ax\", @progbits\n"
    ".zero 8\n"
    ".type at_the_end, @function\n at_the_end: .zero 8\n"
    ".data\n .globl datum\n .type datum, @object\n datum: .zero 64\n .size datum, 64\n";

static struct elf_file *library;
static struct symbol_table *table;

static void open_table(const char *strip)
{
    scratch_write("a.s", assembly);
    scratch_write("a.map", "VERSION_1 { global: versioned; first; work; visible; local: *; };\n");
    scratch_run("gcc -shared -nostdlib -Wl,--version-script=a.map -o a.so a.s %s", strip);
    library = elf_file_open(scratch_path("a.so"), NULL);
    assert_non_null(library);
    table = symbol_table_new();
    assert_true(symbol_table_add(table, library) > 0);
}

static void close_table(void)
{
    symbol_table_free(table);
    elf_file_close(library);
}

static const char *name_at(uint64_t address)
{
    const struct symbol *symbol = symbol_table_find(table, address);
    return symbol ? symbol->name : "nobody";
}

static void an_address_belongs_to_the_function_whose_size_holds_it(void **state)
{
    (void)state;
    open_table("");
    uint64_t first = scratch_symbol("a.so", "first");
    assert_string_equal(name_at(first - 1), "nobody");
    assert_string_equal(name_at(first), "first");
    assert_string_equal(name_at(first + 31), "first");
    assert_string_equal(name_at(first + 32), "nobody"); /* never the nearest */
    assert_string_equal(name_at(0), "nobody");
    assert_string_equal(name_at(UINT64_MAX), "nobody");
    assert_string_equal(name_at(scratch_symbol("a.so", "datum") + 8), "nobody");
    close_table();
}

static void of_aliases_the_best_known_one_is_taken(void **state)
{
    (void)state;
    open_table("");
    uint64_t work = scratch_symbol("a.so", "work");
    assert_string_equal(name_at(work + 5), "work");
    assert_string_equal(name_at(scratch_symbol("a.so", "__strong") + 1), "visible");
    assert_string_equal(symbol_table_public_name(table, work, "__libc_work"), "work");
    assert_null(symbol_table_public_name(table, work, "__libc_play"));
    assert_null(symbol_table_public_name(table, work + 1, "__libc_work"));
    close_table();
}

static void a_symbol_without_size_reaches_to_the_next_and_not_past_its_section(void **state)
{
    (void)state;
    open_table("");
    uint64_t no_size = scratch_symbol("a.so", "no_size");
    assert_string_equal(name_at(no_size + 31), "no_size");
    assert_string_equal(name_at(no_size + 32), "bare_label");
    assert_string_equal(name_at(no_size + 63), "bare_label");
    assert_string_equal(name_at(no_size + 64), "last");
    uint64_t end = scratch_symbol("a.so", "at_the_end");
    assert_string_equal(name_at(end + 7), "at_the_end");
    assert_string_equal(name_at(end + 8), "nobody");
    uint64_t outer = scratch_symbol("a.so", "outer");
    assert_string_equal(name_at(outer + 20), "outer"); /* a label inside does not cut it */
    close_table();
}

static void versions_are_cut_off(void **state)
{
    (void)state;
    open_table("");
    assert_string_equal(name_at(scratch_symbol("a.so", "last") + 16), "versioned");
    close_table();
}

static void a_stripped_library_has_its_exported_names(void **state)
{
    (void)state;
    open_table("");
    uint64_t first = scratch_symbol("a.so", "first"), last = scratch_symbol("a.so", "last");
    close_table();
    open_table("&& strip a.so");
    assert_string_equal(name_at(first + 1), "first");
    assert_string_equal(name_at(last + 1), "nobody");
    close_table();
}

static void a_packed_mini_symbol_table_is_read(void **state)
{
    (void)state;
    open_table("");
    uint64_t local = scratch_symbol("a.so", "no_size");
    close_table();
    open_table("&& objcopy --only-keep-debug a.so mini && xz mini && strip a.so && "
               "objcopy --add-section .gnu_debugdata=mini.xz a.so && rm mini.xz");
    assert_string_equal(name_at(local + 1), "no_size");
    close_table();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_belongs_to_the_function_whose_size_holds_it),
        cmocka_unit_test(of_aliases_the_best_known_one_is_taken),
        cmocka_unit_test(a_symbol_without_size_reaches_to_the_next_and_not_past_its_section),
        cmocka_unit_test(versions_are_cut_off),
        cmocka_unit_test(a_stripped_library_has_its_exported_names),
        cmocka_unit_test(a_packed_mini_symbol_table_is_read),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
