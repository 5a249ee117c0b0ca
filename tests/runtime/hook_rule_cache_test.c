/* hook_rule_cache_test.c: what is put in is found, what is torn or forgotten is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "runtime/hook_rule_cache.h"

static void test_what_is_put_is_found(void **state)
{
    (void)state;
    assert_int_equal(rule_cache_get(0x1000), FRAME_EMPTY);
    rule_cache_put(0x1000, 0x1234);
    assert_int_equal(rule_cache_get(0x1000), 0x1234);
    rule_cache_put(0x1000, 0x77);
    assert_int_equal(rule_cache_get(0x1000), 0x77);
}

static void test_two_pcs_of_one_set_are_kept_and_the_older_goes_first(void **state)
{
    uint64_t step = RULE_CACHE_SETS;
    (void)state;
    rule_cache_put(5, 1);
    rule_cache_put(5 + step, 2);
    assert_int_equal(rule_cache_get(5), 1);
    assert_int_equal(rule_cache_get(5 + step), 2);
    rule_cache_put(5 + 2 * step, 3);
    assert_int_equal(rule_cache_get(5), FRAME_EMPTY);
    assert_int_equal(rule_cache_get(5 + step), 2);
    assert_int_equal(rule_cache_get(5 + 2 * step), 3);
}

static void test_forgetting_a_range_spares_its_neighbours(void **state)
{
    (void)state;
    for (uint64_t pc = 0x20000; pc < 0x20010; pc++)
        rule_cache_put(pc, pc);
    rule_cache_forget(0x20004, 0x20008);
    for (uint64_t pc = 0x20000; pc < 0x20010; pc++)
        assert_int_equal(rule_cache_get(pc), pc >= 0x20004 && pc < 0x20008 ? FRAME_EMPTY : pc);
}

static void test_an_unused_entry_matches_no_pc(void **state)
{
    (void)state;
    rule_cache_forget(0, UINT64_MAX);
    for (uint64_t pc = 0; pc < 4 * RULE_CACHE_SETS; pc++)
        assert_int_equal(rule_cache_get(pc), FRAME_EMPTY);
}

static void test_half_of_another_entry_is_a_miss(void **state)
{
    struct rule_set *set = rule_cache_set(0x3000);
    (void)state;
    rule_cache_put(0x3000, 0x1001);
    for (unsigned bit = 0; bit < 64; bit++) {
        atomic_store(&set->ways[0].rule, 0x1001 ^ (UINT64_C(1) << bit));
        assert_int_equal(rule_cache_get(0x3000), FRAME_EMPTY);
    }
}

enum { WRITERS = 3, ROUNDS = 300000 };

/* All in one set; the rule follows from the pc, so that a wrong one is seen. */
static uint64_t rule_of(uint64_t pc)
{
    return pc * 3 + 1;
}

static void *write_and_read(void *number)
{
    uint64_t pc = 0x4000 + (uintptr_t)number * RULE_CACHE_SETS;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t mine = pc + i % 7 * RULE_CACHE_SETS;
        frame_word word;
        rule_cache_put(mine, rule_of(mine));
        word = rule_cache_get(mine);
        if (word != FRAME_EMPTY && word != rule_of(mine))
            return number;
    }
    return NULL;
}

static void test_threads_that_write_one_set_never_see_a_wrong_rule(void **state)
{
    pthread_t threads[WRITERS];
    (void)state;
    for (uintptr_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_and_read, (void *)(i + 1)), 0);
    for (size_t i = 0; i < WRITERS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_put_is_found),
        cmocka_unit_test(test_two_pcs_of_one_set_are_kept_and_the_older_goes_first),
        cmocka_unit_test(test_forgetting_a_range_spares_its_neighbours),
        cmocka_unit_test(test_an_unused_entry_matches_no_pc),
        cmocka_unit_test(test_half_of_another_entry_is_a_miss),
        cmocka_unit_test(test_threads_that_write_one_set_never_see_a_wrong_rule),
    };
    return cmocka_run_group_tests_name("rule_cache", tests, NULL, NULL);
}
