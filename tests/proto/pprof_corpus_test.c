/* pprof_corpus_test.c: real and synthetic profile files with known contents.
 *
 * The numbers were found by other readers and checked against go tool pprof. Functions count once
 * where a file has the same function under several ids (folded.*, heapage.out): the model holds
 * each one once. The files are not part of the project; where they are absent, the tests skip. */
#include "proto/pprof.h"

#include "proto/error.h"
#include "proto/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CORPUS "../shared/corpus/"

struct accepted_row {
    const char *file;
    const char *totals; /* "type/unit=sum ..."; "" where the test looks at them elsewhere */
    uint32_t samples, locations, functions, mappings;
};

static const struct accepted_row accepted_rows[] = {
    {"google-pprof/driver-testdata/cppbench.cpu_no_samples_type", "cpu/nanoseconds=7120000000", 52,
     109, 0, 12},
    {"google-pprof/driver-testdata/go.nomappings.crash",
     "alloc_objects/count=2 alloc_space/bytes=1765955 inuse_objects/count=2 "
     "inuse_space/bytes=1765955",
     2, 11, 0, 0},
    {"google-pprof/misc/large.cpu", "samples/count=24029 cpu/nanoseconds=240290000000", 20430,
     23355, 23038, 4},
    {"google-pprof/misc/sample.cpu", "samples/count=176 cpu/nanoseconds=1760000000", 76, 86, 14, 3},
    {"felixge-pprofutils/anon.in.pprof", "samples/count=6385 cpu/nanoseconds=63850000000", 3679,
     3187, 811, 7},
    {"felixge-pprofutils/anon.out.pprof", "samples/count=6385 cpu/nanoseconds=63850000000", 3679,
     3187, 811, 7},
    {"felixge-pprofutils/avg.in.pprof",
     "contentions/count=387153502 delay/nanoseconds=4114869210214492", 120, 276, 214, 7},
    {"felixge-pprofutils/avg.out.pprof",
     "contentions/count=387153502 delay/nanoseconds=216098591072", 120, 276, 214, 7},
    {"felixge-pprofutils/folded.in.pprof", "samples/count=12", 3, 7, 4, 1},
    {"felixge-pprofutils/folded.out.pprof", "samples/count=12", 3, 7, 4, 1},
    {"felixge-pprofutils/heapage.in.pprof",
     "alloc_objects/count=247747 alloc_space/bytes=1374249148 inuse_objects/count=48375 "
     "inuse_space/bytes=330314096",
     14, 21, 19, 1},
    {"felixge-pprofutils/heapage.out.pprof",
     "alloc_objects/count=247747 alloc_space/bytes=1374249148 inuse_objects/count=48375 "
     "inuse_space/bytes=330314096",
     14, 35, 24, 1},
    {"felixge-pprofutils/heapage.pprof",
     "alloc_objects/count=247747 alloc_space/bytes=1374249148 inuse_objects/count=48375 "
     "inuse_space/bytes=330314096",
     14, 21, 19, 1},
    {"felixge-pprofutils/json.in.pprof", "samples/count=38 cpu/nanoseconds=380000000", 7, 28, 28,
     1},
    {"felixge-pprofutils/json.out.pprof", "samples/count=38 cpu/nanoseconds=380000000", 7, 28, 28,
     1},
    {"felixge-pprofutils/labelframes.in.pprof", "samples/count=2722 cpu/nanoseconds=27220000000",
     1014, 614, 147, 1},
    {"felixge-pprofutils/labelframes.out.pprof", "samples/count=2722 cpu/nanoseconds=27220000000",
     1014, 618, 151, 1},
    {"felixge-pprofutils/pprof.lines.pb.gz", "samples/count=308 cpu/nanoseconds=3080000000", 6, 10,
     8, 7},
    {"felixge-pprofutils/pprof.samples.cpu.001.pb.gz", "samples/count=38 cpu/nanoseconds=380000000",
     7, 28, 28, 1},
    {"felixge-pprofutils/raw.in.pprof", "samples/count=38 cpu/nanoseconds=380000000", 7, 28, 28, 1},
    {"dd-trace-go/big-heap.pprof",
     "alloc_objects/count=853237997 alloc_space/bytes=104088060305 inuse_objects/count=15051818 "
     "inuse_space/bytes=1866635045",
     5676, 2040, 1181, 1},
    {"dd-trace-go/block.after.pprof", "contentions/count=5 delay/nanoseconds=3340939", 3, 18, 19,
     1},
    {"dd-trace-go/block.before.pprof", "contentions/count=4 delay/nanoseconds=3336989", 3, 18, 19,
     1},
    {"dd-trace-go/heap.after.pprof",
     "alloc_objects/count=1715 alloc_space/bytes=1049360 inuse_objects/count=1715 "
     "inuse_space/bytes=1049360",
     5, 31, 30, 1},
    {"dd-trace-go/heap.before.pprof",
     "alloc_objects/count=1715 alloc_space/bytes=1049360 inuse_objects/count=1715 "
     "inuse_space/bytes=1049360",
     3, 27, 27, 1},
    {"dd-trace-go/heap.pprof",
     "alloc_objects/count=12093902 alloc_space/bytes=1563150773 inuse_objects/count=27657 "
     "inuse_space/bytes=3672576",
     497, 216, 135, 1},
    {"dd-trace-go/stress-failure.2.after.pprof",
     "alloc_objects/count=441639333 alloc_space/bytes=63158148868 inuse_objects/count=14460 "
     "inuse_space/bytes=5522854",
     17655, 341, 198, 1},
    {"dd-trace-go/stress-failure.2.before.pprof",
     "alloc_objects/count=440578641 alloc_space/bytes=63025850571 inuse_objects/count=14461 "
     "inuse_space/bytes=6476012",
     17644, 341, 198, 1},
    {"dd-trace-go/stress-failure.3.after.pprof",
     "alloc_objects/count=26813091 alloc_space/bytes=5960396036 inuse_objects/count=194419 "
     "inuse_space/bytes=5887529",
     5343, 284, 181, 1},
    {"dd-trace-go/stress-failure.3.before.pprof",
     "alloc_objects/count=26358302 alloc_space/bytes=5892614820 inuse_objects/count=194417 "
     "inuse_space/bytes=5244896",
     5308, 284, 181, 1},
    {"dd-trace-go/stress-failure.after.pprof",
     "alloc_objects/count=253652217 alloc_space/bytes=38451488337 inuse_objects/count=14461 "
     "inuse_space/bytes=6374088",
     14473, 321, 190, 1},
    {"dd-trace-go/stress-failure.before.pprof",
     "alloc_objects/count=252806254 alloc_space/bytes=38341130374 inuse_objects/count=14461 "
     "inuse_space/bytes=6374088",
     14458, 321, 190, 1},
    {"speedscope/simple.prof", "samples/count=150 cpu/nanoseconds=1500000000", 9, 30, 25, 0},
    {"synthetic/64_sample_types.pb", "", 1, 1, 1, 0},
    {"synthetic/baseline.pb", "samples/count=6 cpu/nanoseconds=60", 3, 3, 3, 1},
    {"synthetic/dangling_mapping.pb", "samples/count=4 cpu/nanoseconds=40", 1, 4, 3, 1},
    {"synthetic/depth_200k_recursive.pb", "a/count=1", 1, 2, 2, 0},
    {"synthetic/drop_frames_bad_regex.pb", "samples/count=1 cpu/nanoseconds=10", 1, 3, 3, 1},
    {"synthetic/empty_stack_sample.pb", "samples/count=5 cpu/nanoseconds=50", 2, 3, 3, 1},
    {"synthetic/ids_64bit.pb", "a/count=1", 1, 1, 1, 0},
    {"synthetic/int64_min.pb", "x/bytes=-9223372036854775808", 1, 1, 1, 0},
    {"synthetic/labels_mixed.pb", "samples/count=3 cpu/nanoseconds=30", 2, 3, 3, 1},
    {"synthetic/mappings_overlap_inverted.pb", "a/count=1", 1, 2, 0, 5},
    {"synthetic/negative_times.pb", "samples/count=1 cpu/nanoseconds=10", 1, 3, 3, 1},
    {"synthetic/odd_units.pb", "weird/parsecs=1 /=2", 1, 1, 1, 0},
    {"synthetic/unpacked.pb", "samples/count=6 cpu/nanoseconds=60", 3, 3, 3, 1},
    {"synthetic/varint_overlong_zero.pb", "samples/count=0 cpu/nanoseconds=0", 0, 3, 3, 1},
};

struct refused_row {
    const char *file;
    const char *reason; /* how it ends */
};

static const struct refused_row refused_rows[] = {
    {"synthetic/dangling_function.pb", "location 4 names function 77, which does not exist"},
    {"synthetic/duplicate_location_id.pb", "two locations have the id 2"},
    {"synthetic/huge_len_field.pb", "not a pprof profile"},
    {"synthetic/no_sample_types.pb", "corrupt: no sample types"},
    {"synthetic/string0_not_empty.pb", "the first string is not empty"},
    {"synthetic/string_table_short.pb", "the first string is not empty"},
    {"synthetic/values_too_many.pb", "sample 1 has 3 values, there are 2 sample types"},
    {"synthetic/wiretype_6.pb", "corrupt: no protobuf field at byte 228"},
    {"google-pprof/fuzz/empty", "empty file"},
    {"google-pprof/fuzz/java.cpu.pb", "not a pprof profile"},
    {"google-pprof/fuzz/cppbench.cpu.pb", "a gperftools CPU profile, which cannot be read"},
    {"google-pprof/elf/exe_linux_64", "an ELF file, which cannot be read"},
    {"google-pprof/profile-testdata/cppbench.heap",
     "a gperftools heap profile (text), which cannot be read"},
    {"google-pprof/profile-testdata/gobench.heap",
     "a gperftools heap profile (text), which cannot be read"},
    {"google-pprof/profile-testdata/java.heap", "a Java heap profile (text), which cannot be read"},
    {"tcmalloc/known.0001.heap", "a gperftools heap profile (text), which cannot be read"},
    {"tcmalloc/cpu_perl.prof", "a gperftools CPU profile, which cannot be read"},
    {"jemalloc/known_exact.f.heap", "a jemalloc heap dump (text), which cannot be read"},
    {"felixge-pprofutils/jemalloc.heap", "a jemalloc heap dump (text), which cannot be read"},
    {"speedscope/simple.txt", "not a pprof profile"},
};

static void skip_without_corpus(void)
{
    if (access(CORPUS "README.md", R_OK) != 0) {
        print_message("skipped: no %s\n", CORPUS);
        skip();
    }
}

static struct profile *read_corpus(const char *file, struct error *error)
{
    char path[sizeof(CORPUS) + NAME_MAX + 64];
    snprintf(path, sizeof(path), CORPUS "%s", file);
    return pprof_read_file(path, error);
}

static struct profile *read_valid(const char *file)
{
    struct error error = {0};
    struct profile *profile = read_corpus(file, &error);
    if (!profile)
        fail_msg("%s", error.text);
    return profile;
}

static int64_t total(const struct profile *profile, uint32_t type)
{
    uint64_t sum = 0; /* unsigned: int64 minimum may be among them */
    for (size_t i = 0; i < profile->sample_count; i++)
        sum += (uint64_t)profile->samples[i]->values[type];
    return (int64_t)sum;
}

static void assert_facts(const struct profile *profile, const struct accepted_row *row)
{
    char totals[512] = "";
    size_t used = 0;
    for (uint32_t i = 0; row->totals[0] && i < profile->sample_type_count; i++)
        used += (size_t)snprintf(totals + used, sizeof(totals) - used, "%s%s/%s=%" PRId64,
                                 used > 0 ? " " : "", profile->sample_types[i].type,
                                 profile->sample_types[i].unit, total(profile, i));
    if (strcmp(totals, row->totals) != 0 || profile->sample_count != row->samples ||
        profile->location_count != row->locations || profile->function_count != row->functions ||
        profile->mapping_count != row->mappings)
        fail_msg("%s: %s %zu/%u/%u/%u", row->file, totals, profile->sample_count,
                 profile->location_count, profile->function_count, profile->mapping_count);
}

static void valid_files_are_read_with_their_counts_and_totals(void **state)
{
    (void)state;
    skip_without_corpus();
    for (size_t i = 0; i < sizeof(accepted_rows) / sizeof(accepted_rows[0]); i++) {
        struct profile *profile = read_valid(accepted_rows[i].file);
        assert_facts(profile, &accepted_rows[i]);
        profile_free(profile);
    }
}

/* Unused locations and all-zero samples go; what a report shows stays. */
static void valid_files_keep_their_totals_when_written_again(void **state)
{
    (void)state;
    skip_without_corpus();
    for (size_t i = 0; i < sizeof(accepted_rows) / sizeof(accepted_rows[0]); i++) {
        struct profile *profile = read_valid(accepted_rows[i].file);
        struct error error = {0};
        uint8_t *bytes;
        size_t size;
        assert_true(pprof_encode(profile, &bytes, &size, &error));
        struct profile *copy = pprof_decode(bytes, size, accepted_rows[i].file, &error);
        if (!copy)
            fail_msg("%s", error.text);
        assert_int_equal(copy->mapping_count, profile->mapping_count);
        assert_int_equal(copy->sample_type_count, profile->sample_type_count);
        for (uint32_t type = 0; type < profile->sample_type_count; type++)
            assert_int_equal(total(copy, type), total(profile, type));
        uint8_t *again;
        size_t again_size;
        assert_true(pprof_encode(copy, &again, &again_size, &error));
        assert_int_equal(again_size, size);
        assert_memory_equal(again, bytes, size);
        free(bytes);
        free(again);
        profile_free(copy);
        profile_free(profile);
    }
}

static void invalid_files_are_refused_with_the_reason(void **state)
{
    (void)state;
    skip_without_corpus();
    for (size_t i = 0; i < sizeof(refused_rows) / sizeof(refused_rows[0]); i++) {
        const struct refused_row *row = &refused_rows[i];
        struct error error = {0};
        assert_null(read_corpus(row->file, &error));
        size_t length = strlen(error.text);
        size_t wanted = strlen(row->reason);
        if (length < wanted || strcmp(error.text + length - wanted, row->reason) != 0)
            fail_msg("%s, not: %s", error.text, row->reason);
        if (!strstr(error.text, row->file))
            fail_msg("no file name: %s", error.text);
    }
}

static void crashers_of_other_readers_are_refused(void **state)
{
    (void)state;
    skip_without_corpus();
    DIR *folder = opendir(CORPUS "dd-trace-go/fuzz");
    assert_non_null(folder);
    size_t seen = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        char file[300];
        snprintf(file, sizeof(file), "dd-trace-go/fuzz/%s", entry->d_name);
        struct error error = {0};
        struct profile *profile = read_corpus(file, &error);
        if (profile)
            fail_msg("%s was read", file);
        assert_non_null(strstr(error.text, file));
        seen++;
    }
    closedir(folder);
    assert_in_range(seen, 8, 1000);
}

static void sixty_four_sample_types_keep_apart(void **state)
{
    (void)state;
    skip_without_corpus();
    struct profile *profile = read_valid("synthetic/64_sample_types.pb");
    assert_int_equal(profile->sample_type_count, 64);
    for (uint32_t i = 0; i < 64; i++) {
        char name[8];
        snprintf(name, sizeof(name), "t%u", i);
        assert_int_equal(profile_sample_type_index(profile, name), i);
        assert_int_equal(profile->samples[0]->values[i], i);
    }
    profile_free(profile);
}

static void a_stack_of_200001_frames_is_read(void **state)
{
    (void)state;
    skip_without_corpus();
    struct profile *profile = read_valid("synthetic/depth_200k_recursive.pb");
    const struct profile_sample *sample = profile->samples[0];
    assert_int_equal(sample->location_count, 200001);
    assert_string_equal(sample->locations[0]->lines[0].function->name, "rec");
    assert_string_equal(sample->locations[200000]->lines[0].function->name, "main");
    profile_free(profile);
}

static void labels_of_all_kinds_are_read(void **state)
{
    (void)state;
    skip_without_corpus();
    struct profile *profile = read_valid("synthetic/labels_mixed.pb");
    static const struct profile_label expected[] = {
        {.key = "bytes", .num = 1024, .num_unit = "bytes"},
        {.key = "bytes", .num = 2048, .num_unit = "bytes"},
        {.key = "tenant", .str = "\xc3\xbc;x", .num_unit = ""},
        {.key = "empty", .num = 0, .num_unit = ""},
        {.key = "", .str = "nokey", .num_unit = ""},
        {.key = "neg", .num = -3, .num_unit = ""},
    };
    const struct profile_sample *sample = profile->samples[0];
    assert_int_equal(sample->label_count, sizeof(expected) / sizeof(expected[0]));
    for (uint32_t i = 0; i < sample->label_count; i++) {
        assert_string_equal(sample->labels[i].key, expected[i].key);
        assert_int_equal(sample->labels[i].num, expected[i].num);
        assert_string_equal(sample->labels[i].num_unit, expected[i].num_unit);
        assert_int_equal(sample->labels[i].str != NULL, expected[i].str != NULL);
        if (expected[i].str)
            assert_string_equal(sample->labels[i].str, expected[i].str);
    }
    profile_free(profile);
}

static void the_default_sample_type_of_a_file_wins_over_the_last(void **state)
{
    (void)state;
    skip_without_corpus();
    struct profile *profile = read_valid("dd-trace-go/heap.pprof");
    assert_string_equal(profile->default_sample_type, "alloc_space");
    assert_int_equal(profile_sample_type_index(profile, NULL), 1);
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_files_are_read_with_their_counts_and_totals),
        cmocka_unit_test(valid_files_keep_their_totals_when_written_again),
        cmocka_unit_test(invalid_files_are_refused_with_the_reason),
        cmocka_unit_test(crashers_of_other_readers_are_refused),
        cmocka_unit_test(sixty_four_sample_types_keep_apart),
        cmocka_unit_test(a_stack_of_200001_frames_is_read),
        cmocka_unit_test(labels_of_all_kinds_are_read),
        cmocka_unit_test(the_default_sample_type_of_a_file_wins_over_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
