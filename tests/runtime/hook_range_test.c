/* hook_range_test.c: the range as its callers see it, with slabs and with the private mimalloc. */
#include "tests/runtime/range_child.h"

#include <errno.h>
#include <sys/mman.h>

enum { MODEL_OBJECTS = 400, MODEL_STEPS = 60000 };

struct model_object {
    unsigned char *p;
    size_t size;
    uint64_t weight;
    uint32_t stack;
    unsigned char fill;
};

static uint64_t random_state = 0x9e3779b97f4a7c15ull;

/* Sizes of all orders of magnitude up to 2^23, small ones more often. */
static size_t random_size(void)
{
    uint64_t r = next_random(&random_state);
    unsigned bits = (unsigned)(r % 100);
    bits = bits < 80 ? bits / 8 + 1 : bits < 97 ? 10 + bits % 7 : 17 + (unsigned)(r >> 32) % 7;
    return (size_t)(next_random(&random_state) & ((1ull << bits) - 1));
}

/* Every byte of small objects, a byte of each KiB and the last of large ones. */
static size_t stride(size_t size)
{
    return size <= 16384 ? 1 : 1021;
}

static void fill(struct model_object *object)
{
    object->fill = (unsigned char)next_random(&random_state);
    for (size_t i = 0; i < object->size; i += stride(object->size))
        object->p[i] = (unsigned char)(object->fill + i);
    if (object->size > 0)
        object->p[object->size - 1] = (unsigned char)(object->fill + object->size - 1);
}

static void check_contents(const struct model_object *object, size_t size)
{
    for (size_t i = 0; i < size; i += stride(object->size))
        CHECK(object->p[i] == (unsigned char)(object->fill + i));
}

static void check_record(const struct model_object *object, struct range_record *record)
{
    CHECK(range_holds(object->p));
    CHECK(range_record_of(object->p) == record);
    CHECK(record->size == object->size);
    CHECK(range_usable_size(object->p, record) >= object->size);
    if (object->size > 32)
        CHECK(range_record_of(object->p + 16) == NULL);
    CHECK(range_record_of(object->p + 1) == NULL);
}

static void model_alloc(struct model_object *object)
{
    uint64_t r = next_random(&random_state);
    size_t alignment = r % 8 == 0 ? (size_t)1 << (4 + (r >> 8) % 10) : 16;
    bool zero = (r >> 20) % 4 == 0;
    struct range_record *record = NULL;
    object->size = random_size();
    object->p = range_alloc(object->size, alignment, zero, &record);
    CHECK(object->p != NULL);
    CHECK((uintptr_t)object->p % alignment == 0);
    CHECK(record->weight_q16 == 0);
    if (zero)
        for (size_t i = 0; i < object->size; i++)
            CHECK(object->p[i] == 0);
    record->weight_q16 = object->weight = r;
    record->stack = object->stack = (uint32_t)(r >> 16);
    check_record(object, record);
    memset(object->p, 0xa5, object->size < 65536 ? range_usable_size(object->p, record) : 1);
    fill(object);
}

static void model_realloc(struct model_object *object)
{
    size_t size = random_size();
    struct range_record *record = range_record_of(object->p);
    unsigned char *moved = range_realloc(object->p, &record, size);
    CHECK(moved != NULL);
    if (moved != object->p)
        CHECK(range_record_of(object->p) == NULL);
    object->p = moved;
    check_contents(object, size < object->size ? size : object->size);
    object->size = size;
    check_record(object, record);
    CHECK(record->weight_q16 == object->weight && record->stack == object->stack);
    fill(object);
}

static void model_free(struct model_object *object)
{
    check_contents(object, object->size);
    struct range_record *record = range_record_of(object->p);
    check_record(object, record);
    CHECK(record->weight_q16 == object->weight && record->stack == object->stack);
    CHECK(range_begin_free(record));
    CHECK(!range_begin_free(record));
    CHECK(range_record_of(object->p) == NULL);
    range_free(object->p, record);
    CHECK(range_record_of(object->p) == NULL);
    object->p = NULL;
}

static void run_model(void)
{
    static struct model_object objects[MODEL_OBJECTS];
    for (int step = 0; step < MODEL_STEPS; step++) {
        struct model_object *object = &objects[next_random(&random_state) % MODEL_OBJECTS];
        if (object->p == NULL)
            model_alloc(object);
        else if (next_random(&random_state) % 3 == 0)
            model_realloc(object);
        else
            model_free(object);
    }
    for (int i = 0; i < MODEL_OBJECTS; i++)
        if (objects[i].p != NULL)
            model_free(&objects[i]);
    check_no_hole();
}

static void model_with_slabs(void)
{
    start_slabs();
    run_model();
}

static void model_with_mimalloc(void)
{
    start_mimalloc();
    run_model();
}

static void random_use_agrees_with_a_model_with_slabs(void **state)
{
    (void)state;
    run_in_child(model_with_slabs);
}

static void random_use_agrees_with_a_model_with_mimalloc(void **state)
{
    (void)state;
    run_in_child(model_with_mimalloc);
}

static void early_objects(void)
{
    static void *early[3000];
    struct range_record *record;
    start_slabs();
    for (size_t i = 0; i < 3000; i++) {
        early[i] = range_alloc(i * 31 + 1, 16, false, &record);
        CHECK(early[i] != NULL);
        record->weight_q16 = i;
    }
    CHECK(range_use_mimalloc(mimalloc_path(), false));
    void *late = range_alloc(100, 16, false, &record);
    CHECK(late != NULL);
    for (size_t i = 0; i < 3000; i++) {
        record = range_record_of(early[i]);
        CHECK(record != NULL && record->weight_q16 == i && record->size == i * 31 + 1);
        void *moved = range_realloc(early[i], &record, i % 7 * 1000);
        CHECK(moved != NULL && record->weight_q16 == i);
        free_in_range(moved);
    }
    free_in_range(late);
}

static void objects_made_before_mimalloc_came_stay_valid(void **state)
{
    (void)state;
    run_in_child(early_objects);
}

static void no_reserve(void)
{
    struct range_record *record;
    CHECK(range_end == 0);
    CHECK(range_alloc(16, 16, false, &record) == NULL);
    CHECK(range_record_of(&record) == NULL);
    CHECK(!range_use_mimalloc(mimalloc_path(), false));
}

static void without_a_reserve_nothing_is_in_the_range(void **state)
{
    (void)state;
    run_in_child(no_reserve);
}

static void wrong_library(void)
{
    struct range_record *record;
    start_slabs();
    CHECK(!range_use_mimalloc("/nonexistent/libmimalloc.so", false));
    CHECK(!range_use_mimalloc("libc.so.6", false));
    void *p = range_alloc(1000, 16, false, &record);
    CHECK(p != NULL);
    free_in_range(p);
}

static void slabs_go_on_when_mimalloc_cannot_be_loaded(void **state)
{
    (void)state;
    run_in_child(wrong_library);
}

/* --- limits -------------------------------------------------------------------------------- */

static uint64_t address_space_left;

static void limit_address_space(void)
{
    uint64_t used = (uint64_t)status_kib("VmSize:") * 1024;
    struct rlimit limit = {used + address_space_left, used + address_space_left};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

static void use_until_full(size_t size)
{
    static void *objects[1 << 20];
    struct range_record *record;
    size_t count = 0;
    errno = EDOM;
    while (count < 1 << 20 && (objects[count] = range_alloc(size, 16, false, &record)) != NULL)
        memset(objects[count++], 0x5a, size);
    CHECK(errno == EDOM);
    CHECK(count > 0);
    for (size_t i = 0; i < count; i++)
        free_in_range(objects[i]);
    void *again = range_alloc(size, 16, false, &record);
    CHECK(again != NULL);
    free_in_range(again);
}

static void under_address_limit(void)
{
    limit_address_space();
    CHECK(range_reserve());
    size_t range_bytes = range_end - range_base;
    CHECK(range_bytes >= address_space_left / 8 / 2 && range_bytes <= address_space_left / 8);
    use_until_full(16);
    use_until_full(900);
    use_until_full(30000);
    if (address_space_left > 64 << 20)
        use_until_full(300000);
    void *rest = malloc(address_space_left / 2); /* the program keeps most of it */
    CHECK(rest != NULL);
}

static void under_rlimit_as_an_eighth_is_taken_and_can_be_filled_again_and_again(void **state)
{
    (void)state;
    for (address_space_left = 9 << 20; address_space_left <= 9ull << 30; address_space_left *= 4)
        run_in_child(under_address_limit);
}

/* What the range holds never leaves the program less than seven eighths of its data. */
static void under_data_limit_from_the_start(void)
{
    uint64_t left = 64 << 20, used = (uint64_t)status_kib("VmData:") * 1024;
    struct rlimit limit = {used + left, used + left};
    CHECK(setrlimit(RLIMIT_DATA, &limit) == 0);
    CHECK(range_reserve());
    size_t range_bytes = range_end - range_base;
    CHECK(range_bytes >= left / 8 / 2 && range_bytes <= left / 8);
    use_until_full(16);
    use_until_full(900);
    use_until_full(30000);
    use_until_full(100000);
    void *rest = malloc(left / 8 * 6);
    CHECK(rest != NULL);
}

static void under_rlimit_data_an_eighth_is_taken(void **state)
{
    (void)state;
    run_in_child(under_data_limit_from_the_start);
}

static void under_tiny_address_limit(void)
{
    struct range_record *record;
    address_space_left = 4 << 20;
    limit_address_space();
    CHECK(!range_reserve());
    CHECK(!range_reserve());
    CHECK(range_alloc(16, 16, false, &record) == NULL);
}

static void with_less_than_a_mebibyte_there_is_no_range(void **state)
{
    (void)state;
    run_in_child(under_tiny_address_limit);
}

static void under_data_limit(void)
{
    static void *objects[1 << 16];
    struct range_record *record;
    start_slabs();
    uint64_t used = (uint64_t)status_kib("VmData:") * 1024;
    struct rlimit limit = {used + (8 << 20), used + (8 << 20)};
    CHECK(setrlimit(RLIMIT_DATA, &limit) == 0);
    for (size_t size = 100; size <= 3000000; size *= 5) {
        size_t count = 0;
        while (count < 1 << 16 && (objects[count] = range_alloc(size, 16, true, &record)) != NULL)
            memset(objects[count++], 1, size);
        CHECK(count < 1 << 16);
        for (size_t i = 0; i < count; i++)
            free_in_range(objects[i]);
    }
    void *p = range_alloc(100, 16, false, &record);
    CHECK(p != NULL);
    CHECK(range_realloc(p, &record, 20 << 20) == NULL);
    CHECK(range_record_of(p) == record && record->size == 100);
}

static void memory_refused_by_the_kernel_is_no_room_and_breaks_nothing(void **state)
{
    (void)state;
    run_in_child(under_data_limit);
}

static void impossible_sizes(void)
{
    struct range_record *record;
    const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 4096, SIZE_MAX / 2, SIZE_MAX / 4, 1ull << 40};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CHECK(range_alloc(sizes[i], 16, false, &record) == NULL);
        CHECK(range_alloc(sizes[i], 1 << 20, true, &record) == NULL);
        CHECK(range_alloc(100, sizes[i] / 2 + 1, false, &record) == NULL || sizes[i] <= 1ull << 40);
        void *p = range_alloc(100000, 16, false, &record);
        CHECK(p != NULL);
        memset(p, 7, 100000);
        CHECK(range_realloc(p, &record, sizes[i]) == NULL);
        CHECK(range_record_of(p) == record && record->size == 100000);
        free_in_range(p);
    }
}

static void impossible_sizes_with_mimalloc(void)
{
    start_mimalloc();
    impossible_sizes();
}

static void impossible_sizes_with_slabs(void)
{
    start_slabs();
    impossible_sizes();
}

static void sizes_beyond_every_slot_fail_and_leave_the_object_alone(void **state)
{
    (void)state;
    run_in_child(impossible_sizes_with_slabs);
    run_in_child(impossible_sizes_with_mimalloc);
}

static void alignments(void)
{
    struct range_record *record;
    for (size_t alignment = 1; alignment <= 1ul << 30; alignment *= 2)
        for (size_t size = 0; size <= 5000000; size = size * 7 + 1) {
            unsigned char *p = range_alloc(size, alignment, true, &record);
            CHECK(p != NULL);
            CHECK((uintptr_t)p % alignment == 0 && (uintptr_t)p % 16 == 0);
            CHECK(range_record_of(p) == record);
            for (size_t i = 0; i < size; i += stride(size))
                CHECK(p[i] == 0);
            memset(p, 0xff, size);
            p = range_realloc(p, &record, size + 3000);
            CHECK(p != NULL && (size == 0 || (p[0] == 0xff && p[size - 1] == 0xff)));
            free_in_range(p);
        }
}

static void alignments_with_slabs(void)
{
    start_slabs();
    alignments();
}

static void alignments_with_mimalloc(void)
{
    start_mimalloc();
    alignments();
}

static void every_alignment_up_to_a_gibibyte_is_kept_and_zeroed(void **state)
{
    (void)state;
    run_in_child(alignments_with_slabs);
    run_in_child(alignments_with_mimalloc);
}

static void wrong_addresses(void)
{
    struct range_record *record;
    void *kept[3] = {range_alloc(100, 16, false, &record), range_alloc(100000, 16, false, &record),
                     range_alloc(3000000, 16, false, &record)};
    for (uintptr_t at = range_base; at < range_end; at += (range_end - range_base) / 4097 + 13)
        if (at != (uintptr_t)kept[0] && at != (uintptr_t)kept[1] && at != (uintptr_t)kept[2])
            CHECK(range_record_of((void *)at) == NULL);
    CHECK(range_record_of((void *)(range_end - 1)) == NULL);
    CHECK(range_record_of((void *)range_end) == NULL);
    CHECK(range_record_of((void *)(range_base - 16)) == NULL);
    CHECK(range_record_of(NULL) == NULL);
    CHECK(range_holds((void *)range_base) && range_holds((void *)(range_end - 1)));
    /* This program is position-independent: its data, heap and mappings lie above. */
    void *mapping = malloc(16 << 20), *small = malloc(16);
    CHECK(range_end <= (uintptr_t)mapping && range_end <= (uintptr_t)small);
    CHECK(range_end <= (uintptr_t)&range_end);
    free(mapping);
    free(small);
    CHECK(!range_holds((void *)range_end) && !range_holds((void *)(range_base - 1)));
    for (int i = 0; i < 3; i++)
        for (size_t offset = 1; offset < 4096; offset++)
            CHECK(range_record_of((char *)kept[i] + offset) == NULL);
    for (int i = 0; i < 3; i++) {
        free_in_range(kept[i]);
        CHECK(range_record_of(kept[i]) == NULL);
    }
}

static void wrong_addresses_with_slabs(void)
{
    start_slabs();
    wrong_addresses();
}

static void wrong_addresses_with_mimalloc(void)
{
    start_mimalloc();
    wrong_addresses();
}

static void addresses_that_are_no_live_object_have_no_record(void **state)
{
    (void)state;
    run_in_child(wrong_addresses_with_slabs);
    run_in_child(wrong_addresses_with_mimalloc);
}

static void overwritten_header(void)
{
    struct range_record *record;
    start_mimalloc();
    char *p = range_alloc(100, 16, false, &record);
    CHECK(p != NULL && (char *)record == p - sizeof *record);
    memset(p - 16, 0x41, 16);
    CHECK(range_record_of(p) == NULL);
}

static void a_header_that_the_program_has_overwritten_is_noticed(void **state)
{
    (void)state;
    run_in_child(overwritten_header);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_use_agrees_with_a_model_with_slabs),
        cmocka_unit_test(random_use_agrees_with_a_model_with_mimalloc),
        cmocka_unit_test(objects_made_before_mimalloc_came_stay_valid),
        cmocka_unit_test(without_a_reserve_nothing_is_in_the_range),
        cmocka_unit_test(slabs_go_on_when_mimalloc_cannot_be_loaded),
        cmocka_unit_test(under_rlimit_as_an_eighth_is_taken_and_can_be_filled_again_and_again),
        cmocka_unit_test(under_rlimit_data_an_eighth_is_taken),
        cmocka_unit_test(with_less_than_a_mebibyte_there_is_no_range),
        cmocka_unit_test(memory_refused_by_the_kernel_is_no_room_and_breaks_nothing),
        cmocka_unit_test(sizes_beyond_every_slot_fail_and_leave_the_object_alone),
        cmocka_unit_test(every_alignment_up_to_a_gibibyte_is_kept_and_zeroed),
        cmocka_unit_test(addresses_that_are_no_live_object_have_no_record),
        cmocka_unit_test(a_header_that_the_program_has_overwritten_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
