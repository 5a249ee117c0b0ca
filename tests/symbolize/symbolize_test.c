/* symbolize_test.c: whole programs, from an address in a mapping to functions, files and lines.
 *
 * Small programs are built in every way that places debug information elsewhere, and what heapprof
 * says of each instruction is compared with what the source says, or with addr2line. */
#include "symbolize/symbolize.h"

#include "proto/profile.h"
#include "symbolize/elf_file.h"
#include "tests/symbolize/scratch.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/auxv.h>

/* Lines that the tests ask for are marked; keep them where they are. */
static const char source[] = "int volatile sink;\n"                                 /* 1 */
                             "static inline __attribute__((always_inline)) int\n"   /* 2 */
                             "innermost(int x)\n"                                   /* 3 */
                             "{\n"                                                  /* 4 */
                             "    sink = x * 3;\n"                                  /* 5 */
                             "    return sink + 1;\n"                               /* 6 */
                             "}\n"                                                  /* 7 */
                             "static inline __attribute__((always_inline)) int\n"   /* 8 */
                             "middle(int x)\n"                                      /* 9 */
                             "{\n"                                                  /* 10 */
                             "    int y = innermost(x + 1);\n"                      /* 11 */
                             "    for (int i = 0; i < x; i++)\n"                    /* 12 */
                             "        y += sink;\n"                                 /* 13 */
                             "    return y;\n"                                      /* 14 */
                             "}\n"                                                  /* 15 */
                             "static __attribute__((noinline)) int hidden(int x)\n" /* 16 */
                             "{\n"                                                  /* 17 */
                             "    return sink - x;\n"                               /* 18 */
                             "}\n"                                                  /* 19 */
                             "__attribute__((noinline)) int outer(int x)\n"         /* 20 */
                             "{\n"                                                  /* 21 */
                             "    if (x > 1000)\n"                                  /* 22 */
                             "        __builtin_trap();\n"                          /* 23 */
                             "    return middle(x) + hidden(x);\n"                  /* 24 */
                             "}\n"                                                  /* 25 */
                             "int main(int argc, char **argv)\n"                    /* 26 */
                             "{\n"                                                  /* 27 */
                             "    return outer(argc) + (argv[0] == 0);\n"           /* 28 */
                             "}\n";

/* --- a profile over one file ---------------------------------------------------------------- */

#define BASE 0x7f1200000000ull

/* The executable segment of the file, mapped at BASE. */
static struct profile_mapping *add_mapping(struct profile *profile, const char *path,
                                           uint64_t *bias)
{
    struct elf_file *file = elf_file_open(path, NULL);
    assert_non_null(file);
    struct profile_mapping mapping = {.filename = path, .build_id = ""};
    for (uint32_t i = 0; i < file->segment_count; i++) {
        const struct elf_segment *segment = &file->segments[i];
        if (segment->type != PT_LOAD || !(segment->flags & PF_X))
            continue;
        uint64_t slack = segment->address % 4096;
        mapping.memory_start = BASE;
        mapping.memory_limit = BASE + ((slack + segment->memory_size + 4095) & ~4095ull);
        mapping.file_offset = segment->offset - slack;
        *bias = BASE - (segment->address - slack);
    }
    mapping.build_id = file->build_id;
    struct profile_mapping *added = profile_add_mapping(profile, &mapping);
    elf_file_close(file);
    return added;
}

struct subject {
    struct profile *profile;
    struct profile_mapping *mapping;
    uint64_t bias; /* from a virtual address of the file to one of the process */
    struct symbolize_options options;
    struct symbolize_stats stats;
};

static struct subject subject_of(const char *file)
{
    struct subject subject = {.profile = profile_new()};
    subject.mapping = add_mapping(subject.profile, scratch_path(file), &subject.bias);
    subject.options.debug_root = scratch_path("debug-root");
    return subject;
}

static struct profile_location *add_address(struct subject *subject, uint64_t virtual_address)
{
    return profile_location(subject->profile, subject->mapping, virtual_address + subject->bias);
}

static void run(struct subject *subject)
{
    symbolize_profile(subject->profile, &subject->options, &subject->stats);
}

/* "innermost:5 < middle:11 < outer:24" */
static const char *chain(const struct profile_location *location)
{
    static char text[2048];
    text[0] = '\0';
    for (uint32_t i = 0; i < location->line_count; i++) {
        const struct profile_line *line = &location->lines[i];
        size_t length = strlen(text);
        snprintf(text + length, sizeof(text) - length, "%s%s:%d", i ? " < " : "",
                 line->function->name, (int)line->line);
    }
    return text;
}

/* The address of an instruction of the innermost function's line, found by addr2line. */
static uint64_t address_of_line(const char *file, const char *function, int line)
{
    scratch_run("a=$(nm -S %s | awk '$4 == \"%s\" {print \"0x\" $1, \"0x\" $2}') && set -- $a && "
                "i=0 && while [ $i -lt $(($2)) ]; do printf '%%x\\n' $(($1 + i)); i=$((i + 1)); "
                "done > range.in",
                file, function);
    scratch_run("addr2line -a -e %s < range.in | paste - - | grep -m1 -E ':%d( |$)' | cut -f1 "
                "> line.out",
                file, line);
    char *text = scratch_read("line.out", NULL);
    uint64_t address = strtoull(text, NULL, 16);
    free(text);
    if (address == 0)
        fail_msg("no instruction of line %d in %s", line, function);
    return address;
}

static void build(const char *compiler, const char *flags)
{
    scratch_write("source.c", source);
    scratch_run("%s %s -o program source.c", compiler, flags);
}

/* --- the same answers as addr2line ---------------------------------------------------------- */

static char *answers_of_addr2line(const char *file)
{
    scratch_run("nm -S %s | awk 'NF == 4 && $3 ~ /[tTwW]/ && $4 ~ "
                "/^(outer|hidden|main)$/ {print $1, $2}' | while read -r start size; do "
                "i=0; while [ $i -lt $((0x$size)) ]; do printf '%%x\\n' $((0x$start + i)); "
                "i=$((i + 1)); done; done > all.in",
                file);
    scratch_run("addr2line -fi -a -e %s < all.in | sed -e 's/ (discriminator.*//' -e "
                "'s/:?$/:0/' -e 's/^??:0/:0/' -e 's/^0x0*/0x/' > all.out",
                file);
    return scratch_read("all.out", NULL);
}

static void append_answer(FILE *out, uint64_t address, const struct profile_location *location)
{
    fprintf(out, "0x%llx\n", (unsigned long long)address);
    for (uint32_t i = 0; i < location->line_count; i++) {
        const struct profile_line *line = &location->lines[i];
        fprintf(out, "%s\n%s:%d\n", line->function->system_name, line->function->filename,
                (int)line->line);
    }
}

static char *own_answers(const char *file)
{
    struct subject subject = subject_of(file);
    char *addresses = scratch_read("all.in", NULL), *text = NULL, *rest;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (char *at = strtok_r(addresses, "\n", &rest); at; at = strtok_r(NULL, "\n", &rest))
        add_address(&subject, strtoull(at, NULL, 16));
    run(&subject);
    for (uint32_t i = 0; i < subject.profile->location_count; i++) {
        const struct profile_location *location = subject.profile->locations[i];
        append_answer(out, location->address - subject.bias, location);
    }
    assert_true(subject.profile->location_count > 40);
    assert_int_equal(subject.stats.named, subject.profile->location_count);
    fclose(out);
    free(addresses);
    profile_free(subject.profile);
    return text;
}

static void every_instruction_is_named_as_addr2line_names_it(void **state)
{
    (void)state;
    static const struct {
        const char *compiler, *flags;
    } ways[] = {
        {"gcc", "-g -O0"},
        {"gcc", "-g -O2"},
        {"gcc", "-g -O2 -no-pie"},
        {"gcc", "-g -O2 -fPIC -shared"},
        {"gcc", "-gdwarf-5 -O2"},
        {"gcc", "-gdwarf-4 -O2"},
        {"gcc", "-gdwarf-3 -gstrict-dwarf -O1"},
        {"gcc", "-gdwarf-2 -gstrict-dwarf -O1"},
        {"gcc", "-gdwarf-4 -O2 -flto"},
        {"gcc", "-g -O3 -ffunction-sections -Wl,--gc-sections"},
        {"clang", "-gdwarf-4 -O2"},
        {"clang", "-gdwarf-4 -O0"},
        {"clang", "-gdwarf-5 -O1"},
        {"clang", "-gdwarf-4 -O2 -no-pie"},
        {"clang", "-gdwarf-4 -O2 -fPIC -shared"},
    };
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        build(ways[i].compiler, ways[i].flags);
        char *expected = answers_of_addr2line("program");
        char *got = own_answers("program");
        if (strcmp(got, expected) != 0) {
            print_error("%s %s\n", ways[i].compiler, ways[i].flags);
            scratch_write("got.out", got);
            scratch_run("diff all.out got.out | head -20; false");
        }
        free(expected);
        free(got);
    }
}

/* --- inlining ------------------------------------------------------------------------------- */

static void inlined_calls_are_told_from_the_inside_out(void **state)
{
    (void)state;
    build("gcc", "-g -O2");
    struct subject subject = subject_of("program");
    struct profile_location *location =
        add_address(&subject, address_of_line("program", "outer", 5));
    run(&subject);
    assert_string_equal(chain(location), "innermost:5 < middle:11 < outer:24");
    for (uint32_t i = 0; i < 3; i++)
        assert_string_equal(location->lines[i].function->filename, scratch_path("source.c"));
    assert_int_equal(location->lines[0].function->start_line, 3);
    assert_int_equal(location->lines[2].function->start_line, 20);
    assert_true(subject.mapping->has_functions && subject.mapping->has_filenames);
    assert_true(subject.mapping->has_line_numbers && subject.mapping->has_inline_frames);
    assert_int_equal(subject.stats.locations, 1);
    assert_int_equal(subject.stats.with_line, 1);
    profile_free(subject.profile);
}

/* As glibc is made: an implementation with an internal alias and an exported one. */
static void a_c_function_has_the_name_that_is_exported(void **state)
{
    (void)state;
    scratch_write("libc_like.c",
                  "int work(int);\n"
                  "int __libc_work(int x);\n"
                  "extern __typeof(__libc_work) __libc_work __asm__(\"__GI___libc_work\");\n"
                  "int __libc_work(int x) { return x + 1; }\n"
                  "extern int work(int) __attribute__((alias(\"__GI___libc_work\")));\n"
                  "int __lonely(int);\n"
                  "extern __typeof(__lonely) __lonely __asm__(\"__GI___lonely\");\n"
                  "int __lonely(int x) { return x + 2; }\n"
                  "int main(void) { return work(1) + __lonely(2); }\n");
    scratch_run("gcc -g -O0 -o program libc_like.c");
    struct subject subject = subject_of("program");
    struct profile_location *work = add_address(&subject, scratch_symbol("program", "work"));
    struct profile_location *lonely =
        add_address(&subject, scratch_symbol("program", "__GI___lonely"));
    run(&subject);
    assert_string_equal(work->lines[0].function->name, "work");
    assert_int_equal(work->lines[0].line, 4);
    assert_string_equal(lonely->lines[0].function->name, "__lonely");
    profile_free(subject.profile);
}

static void template_code_belongs_to_the_header_it_is_written_in(void **state)
{
    (void)state;
    scratch_write("part.h", "#include <vector>\n\n"
                            "namespace app {\n"
                            "template <class T> __attribute__((noinline)) T twice(T x)\n"
                            "{\n"
                            "    return x + x;\n"
                            "}\n"
                            "struct Shelf {\n"
                            "    std::vector<int> items;\n"
                            "    __attribute__((noinline)) int first(int n) { return items[n]; }\n"
                            "};\n"
                            "}\n");
    scratch_write("part.cc", "#include \"part.h\"\n"
                             "static __attribute__((noinline)) int local(int x) { return x; }\n"
                             "int main(int c, char **)\n"
                             "{\n"
                             "    app::Shelf shelf;\n"
                             "    shelf.items.assign(9, c);\n"
                             "    return app::twice(c) + shelf.first(c) + local(c);\n"
                             "}\n");
    static const char *const compilers[] = {"g++ -gdwarf-5", "g++ -gdwarf-4", "clang++ -gdwarf-5"};
    for (size_t i = 0; i < sizeof(compilers) / sizeof(*compilers); i++) {
        scratch_run("%s -O0 -o program part.cc", compilers[i]);
        struct subject subject = subject_of("program");
        struct profile_location *twice =
            add_address(&subject, scratch_symbol("program", "_ZN3app5twiceIiEET_S1_"));
        struct profile_location *first =
            add_address(&subject, scratch_symbol("program", "_ZN3app5Shelf5firstEi"));
        struct profile_location *local =
            add_address(&subject, scratch_symbol("program", "_ZL5locali"));
        run(&subject);
        assert_string_equal(twice->lines[0].function->name, "app::twice");
        assert_string_equal(twice->lines[0].function->system_name, "_ZN3app5twiceIiEET_S1_");
        assert_non_null(strstr(twice->lines[0].function->filename, "/part.h"));
        assert_int_equal(twice->lines[0].function->start_line, 4);
        assert_string_equal(first->lines[0].function->name, "app::Shelf::first");
        assert_non_null(strstr(first->lines[0].function->filename, "/part.h"));
        assert_string_equal(local->lines[0].function->name, "local");
        assert_string_equal(local->lines[0].function->system_name, "_ZL5locali");
        assert_non_null(strstr(local->lines[0].function->filename, "/part.cc"));
        profile_free(subject.profile);
    }
}

static void a_rust_function_has_its_path_and_line(void **state)
{
    (void)state;
    scratch_write("shelf.rs", "struct Shelf<T>(Vec<T>);\n"
                              "impl<T: Clone> Shelf<T> {\n"
                              "    #[inline(never)]\n"
                              "    fn grow(&mut self, x: T) {\n"
                              "        self.0.push(x);\n"
                              "    }\n"
                              "}\n"
                              "fn main() {\n"
                              "    let mut shelf = Shelf(Vec::new());\n"
                              "    shelf.grow(std::env::args().count());\n"
                              "    std::process::exit(shelf.0.len() as i32 - 1);\n"
                              "}\n");
    scratch_run("rustc -g -o program shelf.rs && nm program | grep -o '_ZN.*Shelf.*grow.*' > name");
    char *name = scratch_read("name", NULL);
    name[strcspn(name, "\n")] = '\0';
    struct subject subject = subject_of("program");
    struct profile_location *location = add_address(&subject, scratch_symbol("program", name));
    run(&subject);
    assert_string_equal(location->lines[0].function->name, "shelf::Shelf<T>::grow");
    assert_string_equal(location->lines[0].function->system_name, name);
    assert_int_equal(location->lines[0].line, 4);
    assert_non_null(strstr(location->lines[0].function->filename, "/shelf.rs"));
    free(name);
    profile_free(subject.profile);
}

/* --- where debug information can be ---------------------------------------------------------- */

/* The chain that an instruction of line 5 gets after the shell command has moved things about;
 * address and mapping are of the program before. */
static void check_after(const char *flags, const char *command, const char *expected)
{
    build("gcc", flags);
    struct subject subject = subject_of("program");
    struct profile_location *location =
        add_address(&subject, address_of_line("program", "outer", 5));
    scratch_run("rm -rf debug-root .debug program.debug && %s", command);
    run(&subject);
    assert_string_equal(chain(location), expected);
    profile_free(subject.profile);
}

#define FULL "innermost:5 < middle:11 < outer:24"
#define SYMBOL_ONLY "outer:0"
#define BUILD_ID_PATH                                                                              \
    "id=$(readelf -n program | awk '/Build ID/ {print $3}') && "                                   \
    "dir=debug-root/.build-id/$(echo $id | cut -c1-2) && file=$dir/$(echo $id | cut -c3-).debug "  \
    "&& mkdir -p $dir && "

static void separate_debug_files_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *what, *flags, *command, *expected;
    } cases[] = {
        {"by build id", "-g -O2",
         BUILD_ID_PATH "objcopy --only-keep-debug program $file && strip program", FULL},
        {"by build id, the program gone", "-g -O2",
         BUILD_ID_PATH "objcopy --only-keep-debug program $file && rm program", FULL},
        {"by build id, the program replaced", "-g -O2",
         BUILD_ID_PATH "objcopy --only-keep-debug program $file && rm program && "
                       "cp /bin/true program",
         FULL},
        {"by link beside the program", "-g -O2",
         "objcopy --only-keep-debug program program.debug && strip program && "
         "objcopy --add-gnu-debuglink=program.debug program",
         FULL},
        {"by link in .debug", "-g -O2",
         "mkdir .debug && objcopy --only-keep-debug program .debug/program.debug && "
         "strip program && objcopy --add-gnu-debuglink=.debug/program.debug program",
         FULL},
        {"by link below the root", "-g -O2",
         "mkdir -p debug-root/$PWD && objcopy --only-keep-debug program "
         "debug-root/$PWD/program.debug && strip program && "
         "objcopy --add-gnu-debuglink=debug-root/$PWD/program.debug program",
         FULL},
        {"by a link with the program's own name", "-g -O2",
         "mkdir .debug && objcopy --only-keep-debug program .debug/program && "
         "strip -g program && objcopy --add-gnu-debuglink=.debug/program program",
         FULL},
        {"by link and CRC, without a build id", "-g -O2 -Wl,--build-id=none",
         "objcopy --only-keep-debug program program.debug && strip program && "
         "objcopy --add-gnu-debuglink=program.debug program",
         FULL},
        {"not by link when the CRC differs", "-g -O2 -Wl,--build-id=none",
         "objcopy --only-keep-debug program program.debug && strip -g program && "
         "objcopy --add-gnu-debuglink=program.debug program && printf x >> program.debug",
         SYMBOL_ONLY},
        {"not by link when the build id differs", "-g -O2",
         "gcc -g -O1 -o other source.c && objcopy --only-keep-debug other program.debug && "
         "strip -g program && objcopy --add-gnu-debuglink=program.debug program",
         SYMBOL_ONLY},
        {"compressed with zlib", "-g -O2 -gz=zlib", "true", FULL},
        {"compressed with zstd", "-g -O2", "objcopy --compress-debug-sections=zstd program", FULL},
        {"in the old compressed form", "-g -O2",
         "objcopy --compress-debug-sections=zlib-gnu program", FULL},
        {"in a .dwo that is gone: lines are left", "-g -O2 -Wl,--build-id=none",
         "gcc -g -gsplit-dwarf -O2 -Wl,--build-id=none -o program source.c && rm -f *.dwo",
         "outer:5"},
        {"no debug information", "-g -O2", "strip -g program", SYMBOL_ONLY},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        print_message("# %s\n", cases[i].what);
        check_after(cases[i].flags, cases[i].command, cases[i].expected);
    }
}

static void a_debug_file_shared_through_dwz_is_followed(void **state)
{
    (void)state;
    build("gcc", "-gdwarf-4 -O2");
    scratch_run("cp program other && sed -i 's/x > 1000/x > 999/' source.c && "
                "gcc -gdwarf-4 -O2 -o other source.c && dwz -m shared.debug -M "
                "\"$PWD/shared.debug\" program other && readelf -SW program | grep -q "
                "gnu_debugaltlink");
    struct subject subject = subject_of("program");
    struct profile_location *location =
        add_address(&subject, address_of_line("program", "outer", 5));
    run(&subject);
    assert_string_equal(chain(location), FULL);
    profile_free(subject.profile);
}

static void a_file_with_another_build_id_is_not_used(void **state)
{
    (void)state;
    build("gcc", "-g -O2");
    struct subject subject = subject_of("program");
    uint64_t address = scratch_symbol("program", "outer");
    struct profile_location *location = add_address(&subject, address);
    scratch_run("gcc -g -O0 -o program source.c"); /* another program in its place */
    run(&subject);
    char expected[64];
    /* Without the file only the offset in it is known. */
    snprintf(expected, sizeof(expected), "program+0x%llx",
             (unsigned long long)(location->address - BASE + subject.mapping->file_offset));
    assert_int_equal(location->line_count, 1);
    assert_string_equal(location->lines[0].function->name, expected);
    assert_int_equal(subject.stats.named, 0);
    profile_free(subject.profile);
}

/* --- what has no name --------------------------------------------------------------------------
 */

static void what_has_no_name_is_called_after_its_file_and_address(void **state)
{
    (void)state;
    build("gcc", "-O2 -s");
    struct subject subject = subject_of("program");
    struct elf_file *file = elf_file_open(scratch_path("program"), NULL);
    uint64_t text = elf_file_section(file, ".text")->address + 3;
    elf_file_close(file);
    struct profile_mapping anonymous = {
        .memory_start = 0x1000, .memory_limit = 0x9000, .filename = "[anon]", .build_id = ""};
    struct profile_mapping *anon = profile_add_mapping(subject.profile, &anonymous);
    struct profile_location *stripped = add_address(&subject, text);
    struct profile_location *jit = profile_location(subject.profile, anon, 0x1234);
    struct profile_location *lost = profile_location(subject.profile, NULL, 0xabcdef);
    struct profile_location *outside =
        profile_location(subject.profile, subject.mapping, BASE - 0x10);
    struct profile_location *unknown = profile_location(subject.profile, subject.mapping, 0);
    run(&subject);
    char expected[64];
    snprintf(expected, sizeof(expected), "program+0x%llx", (unsigned long long)text);
    assert_string_equal(stripped->lines[0].function->name, expected);
    assert_string_equal(stripped->lines[0].function->system_name, expected);
    assert_string_equal(jit->lines[0].function->name, "[anon]");
    assert_string_equal(lost->lines[0].function->name, "0xabcdef");
    assert_string_equal(outside->lines[0].function->name, "0x7f11fffffff0");
    assert_int_equal(unknown->line_count, 0);
    assert_int_equal(subject.stats.locations, 4);
    assert_int_equal(subject.stats.named, 0);
    profile_free(subject.profile);
}

static void the_vdso_is_read_from_this_process_when_its_build_id_fits(void **state)
{
    (void)state;
    const void *image = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
    if (!image) {
        print_message("# skipped: this kernel maps no vdso\n");
        skip();
    }
    struct profile *profile = profile_new();
    struct profile_mapping rows = {.memory_start = BASE,
                                   .memory_limit = BASE + 0x2000,
                                   .filename = "[vdso]",
                                   .build_id = "0123"};
    struct profile_mapping *foreign = profile_add_mapping(profile, &rows);
    struct elf_file *whole = elf_file_of_memory(image, 0x2000, "[vdso]", NULL);
    rows.build_id = whole->build_id;
    struct profile_mapping *own = profile_add_mapping(profile, &rows);
    const struct elf_section *text = elf_file_section(whole, ".text");
    bool is_named = false;
    struct profile_location *elsewhere =
        profile_location(profile, foreign, BASE + text->address + 16);
    for (uint64_t at = text->address; at < text->address + text->size; at += 16)
        profile_location(profile, own, BASE + at);
    symbolize_profile(profile, NULL, NULL);
    for (uint32_t i = 0; i < profile->location_count; i++)
        is_named |= strcmp(profile->locations[i]->lines[0].function->name, "clock_gettime") == 0;
    assert_true(is_named);
    assert_non_null(strstr(elsewhere->lines[0].function->name, "[vdso]+0x"));
    elf_file_close(whole);
    profile_free(profile);
}

/* --- the interface ------------------------------------------------------------------------------
 */

static int open_elsewhere(void *context, const struct profile_mapping *mapping)
{
    (void)mapping;
    return open(context, O_RDONLY | O_CLOEXEC);
}

static void the_file_comes_from_the_callers_descriptor(void **state)
{
    (void)state;
    build("gcc", "-g -O2");
    struct subject subject = subject_of("program");
    struct profile_location *location =
        add_address(&subject, address_of_line("program", "outer", 5));
    scratch_run("mv program moved");
    char moved[512];
    snprintf(moved, sizeof(moved), "%s", scratch_path("moved"));
    subject.options.open_mapping = open_elsewhere;
    subject.options.context = moved;
    run(&subject);
    assert_string_equal(chain(location), FULL);
    profile_free(subject.profile);
}

static int open_nothing(void *context, const struct profile_mapping *mapping)
{
    (void)context;
    (void)mapping;
    return -1;
}

static void without_a_descriptor_the_path_needs_a_build_id(void **state)
{
    (void)state;
    static const char *const flags[] = {"-g -O2", "-g -O2 -Wl,--build-id=none"};
    for (size_t i = 0; i < 2; i++) {
        build("gcc", flags[i]);
        struct subject subject = subject_of("program");
        struct profile_location *location =
            add_address(&subject, address_of_line("program", "outer", 5));
        subject.options.open_mapping = open_nothing;
        run(&subject);
        if (i == 0)
            assert_string_equal(chain(location), FULL);
        else
            assert_non_null(strstr(chain(location), "program+0x"));
        profile_free(subject.profile);
    }
}

static void without_dwarf_symbol_tables_answer(void **state)
{
    (void)state;
    build("gcc", "-g -O2");
    struct subject subject = subject_of("program");
    struct profile_location *location =
        add_address(&subject, address_of_line("program", "outer", 5));
    subject.options.no_dwarf = true;
    run(&subject);
    assert_string_equal(chain(location), SYMBOL_ONLY);
    assert_true(subject.mapping->has_functions);
    assert_false(subject.mapping->has_line_numbers || subject.mapping->has_filenames);
    profile_free(subject.profile);
}

struct progress {
    uint64_t last, total, calls;
};

static void note_progress(void *context, uint64_t done, uint64_t total)
{
    struct progress *progress = context;
    assert_true(done > progress->last && done <= total);
    *progress = (struct progress){done, total, progress->calls + 1};
}

static void what_has_lines_stays_and_progress_ends_at_the_total(void **state)
{
    (void)state;
    build("gcc", "-g -O0");
    struct subject subject = subject_of("program");
    struct progress progress = {0};
    uint64_t outer = scratch_symbol("program", "outer");
    struct profile_location *named = add_address(&subject, outer);
    struct profile_line line = {.function =
                                    profile_function(subject.profile, "mine", "mine", "", 0)};
    profile_set_lines(subject.profile, named, &line, 1);
    for (uint64_t i = 1; i <= 1000; i++)
        add_address(&subject, outer - 500 + i);
    struct profile_location *twin = profile_add_location(subject.profile, subject.mapping,
                                                         subject.profile->locations[1]->address);
    subject.options.progress = note_progress;
    subject.options.context = &progress;
    run(&subject);
    assert_string_equal(chain(named), "mine:0");
    assert_int_equal(twin->line_count, subject.profile->locations[1]->line_count);
    assert_int_equal(progress.last, progress.total);
    assert_int_equal(progress.total, subject.stats.locations);
    assert_true(progress.calls >= 4);
    assert_int_equal(subject.profile->location_count - subject.stats.locations, 1);
    profile_free(subject.profile);
}

/* A file whose DWARF is damaged must not cost its symbols. Only damage that libdwarf reports is
 * tried here: what crashes it is the business of the process around. */
static void damaged_debug_information_leaves_the_symbols(void **state)
{
    (void)state;
    static const char *const sections[] = {".debug_info", ".debug_abbrev"};
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
        build("gcc", "-g -O2");
        struct subject subject = subject_of("program");
        struct profile_location *location =
            add_address(&subject, address_of_line("program", "outer", 5));
        scratch_run("printf 'garbage' > bad && objcopy --update-section %s=bad program",
                    sections[i]);
        run(&subject);
        assert_string_equal(chain(location), SYMBOL_ONLY);
        profile_free(subject.profile);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instruction_is_named_as_addr2line_names_it),
        cmocka_unit_test(inlined_calls_are_told_from_the_inside_out),
        cmocka_unit_test(a_c_function_has_the_name_that_is_exported),
        cmocka_unit_test(template_code_belongs_to_the_header_it_is_written_in),
        cmocka_unit_test(a_rust_function_has_its_path_and_line),
        cmocka_unit_test(separate_debug_files_are_found),
        cmocka_unit_test(a_debug_file_shared_through_dwz_is_followed),
        cmocka_unit_test(a_file_with_another_build_id_is_not_used),
        cmocka_unit_test(what_has_no_name_is_called_after_its_file_and_address),
        cmocka_unit_test(the_vdso_is_read_from_this_process_when_its_build_id_fits),
        cmocka_unit_test(the_file_comes_from_the_callers_descriptor),
        cmocka_unit_test(without_a_descriptor_the_path_needs_a_build_id),
        cmocka_unit_test(without_dwarf_symbol_tables_answer),
        cmocka_unit_test(what_has_lines_stays_and_progress_ends_at_the_total),
        cmocka_unit_test(damaged_debug_information_leaves_the_symbols),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
