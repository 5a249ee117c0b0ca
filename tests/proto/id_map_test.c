/* id_map_test.c: ids of a file, in sequence and wild. */
#include "proto/id_map.h"

#include "proto/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void ids_in_sequence_and_others_live_side_by_side(void **state)
{
    (void)state;
    static const uint64_t ids[] = {1, 2, 3, 7, UINT64_MAX, 4, 5, 1ull << 63, 6, 8, 1000000};
    enum { COUNT = sizeof(ids) / sizeof(ids[0]) };
    int items[COUNT];
    struct arena *arena = arena_new();
    struct id_map map;
    id_map_init(&map, arena);
    for (size_t i = 0; i < COUNT; i++)
        assert_true(id_map_add(&map, ids[i], &items[i]));
    for (size_t i = 0; i < COUNT; i++)
        assert_ptr_equal(id_map_find(&map, ids[i]), &items[i]);
    assert_null(id_map_find(&map, 0));
    assert_null(id_map_find(&map, 9));
    assert_null(id_map_find(&map, UINT64_MAX - 1));
    id_map_done(&map);
    arena_free(arena);
}

static void an_id_used_twice_is_refused_and_the_first_stays(void **state)
{
    (void)state;
    int first;
    int second;
    struct arena *arena = arena_new();
    struct id_map map;
    id_map_init(&map, arena);
    static const uint64_t ids[] = {1, 2, 99, 3};
    for (size_t i = 0; i < 4; i++)
        assert_true(id_map_add(&map, ids[i], &first));
    for (size_t i = 0; i < 4; i++) {
        assert_false(id_map_add(&map, ids[i], &second));
        assert_ptr_equal(id_map_find(&map, ids[i]), &first);
    }
    id_map_done(&map);
    arena_free(arena);
}

static void an_id_stays_unique_when_the_sequence_reaches_it(void **state)
{
    (void)state;
    int early;
    int late;
    struct arena *arena = arena_new();
    struct id_map map;
    id_map_init(&map, arena);
    assert_true(id_map_add(&map, 3, &early)); /* goes to the hash */
    assert_true(id_map_add(&map, 1, &late));
    assert_true(id_map_add(&map, 2, &late));
    assert_false(id_map_add(&map, 3, &late)); /* the array's next */
    assert_ptr_equal(id_map_find(&map, 3), &early);
    id_map_done(&map);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_in_sequence_and_others_live_side_by_side),
        cmocka_unit_test(an_id_used_twice_is_refused_and_the_first_stays),
        cmocka_unit_test(an_id_stays_unique_when_the_sequence_reaches_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
