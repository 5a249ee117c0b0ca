/* hash_set_test.c: finding elements by hash. */
#include "proto/hash_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static bool same_number(const void *item, const void *wanted)
{
    return *(const int *)item == *(const int *)wanted;
}

static void the_hash_is_siphash_1_3(void **state)
{
    (void)state;
    /* The vector for an empty input under the reference key 00 01 .. 0f. */
    struct hash_set set = {.key = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u}};
    assert_int_equal(hash_set_hash(&set, "", 0), 0xabac0158050fc4dcu);
}

static void thousands_of_elements_are_found_and_no_others(void **state)
{
    (void)state;
    enum { COUNT = 10000 };
    static int numbers[COUNT];
    struct hash_set set;
    hash_set_init(&set);
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = i * 7;
        uint64_t hash = hash_set_hash(&set, &numbers[i], sizeof(int));
        assert_null(hash_set_find(&set, hash, same_number, &numbers[i]));
        hash_set_add(&set, hash, &numbers[i]);
    }
    assert_int_equal(set.count, COUNT);
    for (int wanted = 0; wanted < COUNT * 7; wanted++) {
        uint64_t hash = hash_set_hash(&set, &wanted, sizeof(int));
        const int *found = hash_set_find(&set, hash, same_number, &wanted);
        if (wanted % 7 == 0)
            assert_ptr_equal(found, &numbers[wanted / 7]);
        else
            assert_null(found);
    }
    hash_set_done(&set);
}

static void equal_hashes_are_told_apart_by_their_elements(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    static int numbers[COUNT];
    struct hash_set set;
    hash_set_init(&set);
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = i;
        hash_set_add(&set, UINT64_MAX, &numbers[i]);
    }
    for (int i = 0; i < COUNT; i++)
        assert_ptr_equal(hash_set_find(&set, UINT64_MAX, same_number, &i), &numbers[i]);
    int absent = COUNT;
    assert_null(hash_set_find(&set, UINT64_MAX, same_number, &absent));
    hash_set_done(&set);
}

static void two_sets_hash_differently(void **state)
{
    (void)state;
    struct hash_set one;
    struct hash_set other;
    hash_set_init(&one);
    hash_set_init(&other);
    assert_int_not_equal(hash_set_hash(&one, "name", 4), hash_set_hash(&other, "name", 4));
    hash_set_done(&one);
    hash_set_done(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_is_siphash_1_3),
        cmocka_unit_test(thousands_of_elements_are_found_and_no_others),
        cmocka_unit_test(equal_hashes_are_told_apart_by_their_elements),
        cmocka_unit_test(two_sets_hash_differently),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
