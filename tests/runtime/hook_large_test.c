/* hook_large_test.c: large objects: growing, moving, shrinking, pages kept and given back. */
#include "tests/runtime/range_child.h"

#include <sys/mman.h>

#define MIB (1ul << 20)

static void touch_pages(char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 4096)
        p[i] = (char)(i >> 12);
}

static void check_pages(const char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 4096)
        CHECK(p[i] == (char)(i >> 12));
}

static void loops(void)
{
    struct range_record *record;
    start_slabs();
    for (size_t size = 64 << 10; size <= 16 * MIB; size *= 2) {
        for (int round = 0; round < 2; round++) {
            char *p = range_alloc(size, 16, false, &record);
            CHECK(p != NULL);
            touch_pages(p, size);
            free_in_range(p);
        }
        long before = page_faults();
        for (int i = 0; i < 50; i++) {
            char *p = range_alloc(size, 16, false, &record);
            touch_pages(p, size);
            free_in_range(p);
        }
        CHECK(page_faults() - before < 16);
    }
}

static void malloc_touch_free_in_a_loop_takes_no_page_faults_after_the_first_round(void **state)
{
    (void)state;
    run_in_child(loops);
}

static void freed_pages(void)
{
    static void *objects[300];
    struct range_record *record;
    start_slabs();
    for (int i = 0; i < 300; i++) {
        objects[i] = range_alloc(MIB, 16, false, &record);
        CHECK(objects[i] != NULL);
        touch_pages(objects[i], MIB);
    }
    long full = status_kib("VmRSS:");
    for (int i = 0; i < 300; i++)
        free_in_range(objects[i]);
    CHECK(full - status_kib("VmRSS:") > 295 << 10); /* four of them are kept */
    char *huge = range_alloc(100 * MIB, 16, false, &record);
    CHECK(huge != NULL);
    touch_pages(huge, 100 * MIB);
    long with_huge = status_kib("VmRSS:");
    free_in_range(huge);
    CHECK(with_huge - status_kib("VmRSS:") > 99 << 10);
    check_no_hole();
}

static void pages_beyond_a_bound_are_given_back(void **state)
{
    (void)state;
    run_in_child(freed_pages);
}

static void replacing(void)
{
    enum { LIVE = 8, STEPS = 1000 };
    void *objects[LIVE] = {NULL};
    struct range_record *record;
    uint64_t state = 1;
    long pages = 0;
    start_slabs();
    long before = page_faults();
    for (int i = 0; i < STEPS; i++) {
        void **object = &objects[next_random(&state) % LIVE];
        if (*object != NULL)
            free_in_range(*object);
        size_t size = MIB / 2 + next_random(&state) % (7 * MIB / 2);
        CHECK((*object = range_alloc(size, 16, false, &record)) != NULL);
        touch_pages(*object, size);
        pages += (long)(size / 4096);
    }
    CHECK(page_faults() - before < pages / 5);
    check_no_hole();
}

static void objects_of_mixed_sizes_take_over_each_others_pages(void **state)
{
    (void)state;
    run_in_child(replacing);
}

static void growth(void)
{
    struct range_record *record;
    size_t moves = 0;
    start_slabs();
    char *p = range_alloc(MIB, 16, false, &record);
    CHECK(p != NULL);
    touch_pages(p, MIB);
    record->weight_q16 = 77;
    record->stack = 5;
    for (size_t size = 2 * MIB; size <= 1024 * MIB; size += MIB) {
        char *grown = range_realloc(p, &record, size);
        CHECK(grown != NULL);
        CHECK(range_record_of(grown) == record);
        CHECK(record->weight_q16 == 77 && record->stack == 5 && record->size == size);
        moves += grown != p;
        if (grown != p)
            CHECK(range_record_of(p) == NULL);
        p = grown;
        for (size_t i = size - MIB; i < size; i += 4096)
            p[i] = (char)(i >> 12);
    }
    check_pages(p, 1024 * MIB);
    CHECK(moves <= 11);
    check_no_hole();
    free_in_range(p);
    check_no_hole();
    CHECK(status_kib("VmRSS:") < 100 << 10);
}

static void growing_by_realloc_moves_once_for_each_doubling(void **state)
{
    (void)state;
    run_in_child(growth);
}

static void small_growth(void)
{
    struct range_record *record;
    start_slabs();
    char *p = range_alloc(10, 16, false, &record);
    CHECK(p != NULL);
    for (size_t size = 11; size < 3 * MIB; size += size < 40000 ? 1 : 997) {
        p = range_realloc(p, &record, size);
        CHECK(p != NULL && record->size == size);
        CHECK(range_usable_size(p, record) >= size);
        p[size - 1] = (char)size;
        if (size > 2000)
            CHECK(p[1999] == (char)2000);
    }
    for (size_t size = record->size; size > 0; size = size * 9 / 10) {
        p = range_realloc(p, &record, size);
        CHECK(p != NULL && record->size == size);
        if (size > 2000)
            CHECK(p[1999] == (char)2000);
    }
    CHECK(range_usable_size(p, record) < 64);
}

static void an_object_grows_from_bytes_to_mebibytes_and_back(void **state)
{
    (void)state;
    run_in_child(small_growth);
}

static void shrink(void)
{
    struct range_record *record;
    start_slabs();
    char *p = range_alloc(200 * MIB, 16, false, &record);
    CHECK(p != NULL);
    touch_pages(p, 200 * MIB);
    long full = status_kib("VmRSS:");
    CHECK(range_realloc(p, &record, 10 * MIB) == p);
    CHECK(full - status_kib("VmRSS:") > 189 << 10);
    check_pages(p, 10 * MIB);
    p = range_realloc(p, &record, 50 * MIB);
    CHECK(p != NULL);
    check_pages(p, 10 * MIB);
    for (size_t i = 10 * MIB; i < 50 * MIB; i += 4096)
        CHECK(p[i] == 0);
    check_no_hole();
}

static void shrinking_gives_pages_back(void **state)
{
    (void)state;
    run_in_child(shrink);
}

static void zeroing(void)
{
    struct range_record *record;
    start_slabs();
    for (size_t size = 40000; size < 20 * MIB; size = size * 3 / 2)
        for (int round = 0; round < 3; round++) {
            char *p = range_alloc(size, 16, true, &record);
            CHECK(p != NULL);
            for (size_t i = 0; i < size; i++)
                CHECK(p[i] == 0);
            memset(p, 0xff, range_usable_size(p, record));
            free_in_range(p);
        }
    long before = page_faults();
    CHECK(range_alloc(1024 * MIB, 16, true, &record) != NULL);
    CHECK(page_faults() - before < 16); /* fresh pages are not written to */
}

static void zeroed_objects_are_zero_and_fresh_ones_are_not_touched_for_it(void **state)
{
    (void)state;
    run_in_child(zeroing);
}

static size_t mapping_count(void)
{
    size_t lines = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    CHECK(file != NULL);
    for (int c; (c = fgetc(file)) != EOF;)
        lines += c == '\n';
    fclose(file);
    return lines;
}

static void many_objects(void)
{
    static void *objects[3][20000];
    const size_t sizes[3] = {50000, 700000, 3000000};
    struct range_record *record;
    start_slabs();
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < 20000; i++)
            objects[k][i] = range_alloc(sizes[k], 16, false, &record);
    CHECK(mapping_count() < 25000);
    CHECK(objects[0][19999] != NULL && objects[1][19999] != NULL);
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < 20000; i++)
            if (objects[k][i] != NULL)
                free_in_range(objects[k][i]);
    CHECK(mapping_count() < 200);
    check_no_hole();
    CHECK(range_alloc(sizes[2], 16, false, &record) != NULL);
}

static void tens_of_thousands_of_objects_leave_most_kernel_mappings_to_the_program(void **state)
{
    (void)state;
    run_in_child(many_objects);
}

static void fork_and_grow(void)
{
    struct range_record *record;
    start_slabs();
    char *p = range_alloc(3 * MIB, 16, false, &record);
    CHECK(p != NULL);
    touch_pages(p, 3 * MIB);
    pid_t child = fork();
    CHECK(child >= 0);
    for (size_t size = 4 * MIB; size < 40 * MIB; size += MIB) {
        p = range_realloc(p, &record, size);
        CHECK(p != NULL);
    }
    check_pages(p, 3 * MIB);
    free_in_range(p);
    check_no_hole();
    if (child == 0)
        _exit(0);
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void parent_and_child_grow_their_copies_independently(void **state)
{
    (void)state;
    run_in_child(fork_and_grow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malloc_touch_free_in_a_loop_takes_no_page_faults_after_the_first_round),
        cmocka_unit_test(objects_of_mixed_sizes_take_over_each_others_pages),
        cmocka_unit_test(pages_beyond_a_bound_are_given_back),
        cmocka_unit_test(growing_by_realloc_moves_once_for_each_doubling),
        cmocka_unit_test(an_object_grows_from_bytes_to_mebibytes_and_back),
        cmocka_unit_test(shrinking_gives_pages_back),
        cmocka_unit_test(zeroed_objects_are_zero_and_fresh_ones_are_not_touched_for_it),
        cmocka_unit_test(tens_of_thousands_of_objects_leave_most_kernel_mappings_to_the_program),
        cmocka_unit_test(parent_and_child_grow_their_copies_independently),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
