/* address_index_test.c: ranges that lie apart, touch, nest and overlap. */
#include "symbolize/address_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void the_range_that_begins_last_wins(void **state)
{
    (void)state;
    struct address_index index = {0};
    address_index_add(&index, 300, 400, 3);
    address_index_add(&index, 100, 200, 1); /* inside: 120 to 130 */
    address_index_add(&index, 120, 130, 2);
    address_index_add(&index, 350, 450, 4);
    address_index_add(&index, 500, 500, 5); /* empty: not taken */
    address_index_sort(&index);
    static const struct {
        uint64_t address;
        size_t item; /* 0: none */
    } cases[] = {{99, 0},  {100, 1}, {119, 1}, {120, 2}, {129, 2},
                 {130, 1}, {199, 1}, {200, 0}, {300, 3}, {349, 3},
                 {350, 4}, {449, 4}, {450, 0}, {500, 0}, {UINT64_MAX, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        size_t item = 0;
        bool found = address_index_find(&index, cases[i].address, &item);
        assert_int_equal(found, cases[i].item != 0);
        assert_int_equal(item, cases[i].item);
    }
    address_index_done(&index);
}

static void an_index_agrees_with_a_search_through_all_ranges(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    uint64_t low[COUNT], limit[COUNT];
    uint32_t random = 7;
    struct address_index index = {0};
    for (size_t i = 0; i < COUNT; i++) {
        random = random * 1664525 + 1013904223;
        low[i] = (random >> 8) % 5000;
        limit[i] = low[i] + 1 + (random >> 20) % 200;
        address_index_add(&index, low[i], limit[i], i);
    }
    address_index_sort(&index);
    for (uint64_t address = 0; address < 5400; address++) {
        size_t item = 0;
        uint64_t best = 0;
        bool expected = false;
        for (size_t i = 0; i < COUNT; i++) {
            if (low[i] <= address && address < limit[i]) {
                best = low[i] > best ? low[i] : best;
                expected = true;
            }
        }
        bool found = address_index_find(&index, address, &item);
        assert_int_equal(found, expected);
        if (found) {
            assert_int_equal(low[item], best);
            assert_true(address < limit[item]);
        }
    }
    address_index_done(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_range_that_begins_last_wins),
        cmocka_unit_test(an_index_agrees_with_a_search_through_all_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
