/* timeline_test.c: points of a run of any length in bounded memory; the comment, there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct timeline timeline, back;

static void add(uint64_t t_ms, uint64_t live, uint64_t allocated, uint64_t rss)
{
    timeline_add(&timeline, &(struct timeline_point){t_ms, live, allocated, rss});
}

static uint64_t highest(void)
{
    uint64_t most = 0;
    for (size_t i = 0; i < timeline.count; i++)
        most = timeline.points[i].live > most ? timeline.points[i].live : most;
    return most;
}

/* --- adding ---------------------------------------------------------------------------------- */

static void points_are_due_at_whole_intervals(void **state)
{
    (void)state;
    timeline_init(&timeline, 10);
    assert_true(timeline_is_due(&timeline, 0));
    add(0, 1, 1, 1);
    assert_false(timeline_is_due(&timeline, 9));
    assert_true(timeline_is_due(&timeline, 10));
    add(17, 1, 1, 1); /* late: the next one is due as if it had not been */
    assert_false(timeline_is_due(&timeline, 19));
    assert_true(timeline_is_due(&timeline, 20));
    add(1000, 1, 1, 1);
    assert_false(timeline_is_due(&timeline, 1009));
    assert_true(timeline_is_due(&timeline, 1010));
    timeline_init(&timeline, 0);
    assert_true(timeline.interval_ms == 1);
}

static void until_it_is_full_every_point_is_kept(void **state)
{
    (void)state;
    timeline_init(&timeline, 10);
    for (uint64_t i = 0; i < TIMELINE_POINTS; i++)
        add(i * 10, i % 7, i * 100, i);
    assert_int_equal(timeline.count, TIMELINE_POINTS);
    assert_true(timeline.interval_ms == 10);
    for (uint64_t i = 0; i < TIMELINE_POINTS; i++) {
        assert_true(timeline.points[i].t_ms == i * 10);
        assert_true(timeline.points[i].live == i % 7);
    }
}

static void when_it_is_full_the_higher_of_each_two_stays(void **state)
{
    (void)state;
    timeline_init(&timeline, 10);
    for (uint64_t i = 0; i < TIMELINE_POINTS; i++)
        add(i * 10, i % 4 == 1 || i % 4 == 2 ? 100 + i : i, i * 100, i);
    add(TIMELINE_POINTS * 10, 5, TIMELINE_POINTS * 100, 0);
    assert_int_equal(timeline.count, TIMELINE_POINTS / 2 + 1);
    assert_true(timeline.interval_ms == 20);
    for (uint64_t i = 0; i < TIMELINE_POINTS / 2; i++)
        assert_true(timeline.points[i].t_ms == (2 * i + (i % 2 == 0)) * 10);
    assert_true(timeline.points[TIMELINE_POINTS / 2].t_ms == TIMELINE_POINTS * 10);
    assert_false(timeline_is_due(&timeline, TIMELINE_POINTS * 10 + 19));
    assert_true(timeline_is_due(&timeline, TIMELINE_POINTS * 10 + 20));
}

/* A day in steps of 7 ms: enough points, evenly spaced, and a peak of one step is still there. */
static void a_long_run_keeps_its_peak_and_enough_points(void **state)
{
    (void)state;
    const uint64_t end = 24ull * 3600 * 1000;
    timeline_init(&timeline, 10);
    bool peak_seen = false;
    for (uint64_t t = 0; t <= end; t += 7) {
        bool is_peak = t / 7 == 3333333;
        bool is_due = timeline_is_due(&timeline, t) || is_peak;
        if (is_due)
            add(t, is_peak ? 1000000 : t % 1000, t, 1);
        peak_seen = peak_seen || is_peak;
        if (peak_seen && is_due)
            assert_true(highest() == 1000000);
        if (t % 7000000 == 0 && t > 100000)
            assert_true(timeline.count >= TIMELINE_POINTS / 2 && timeline.count <= TIMELINE_POINTS);
    }
    assert_true(peak_seen);
    assert_true(timeline.count >= TIMELINE_POINTS / 2 && timeline.count <= TIMELINE_POINTS);
    /* Each stands for one interval, and may be anywhere in it. */
    for (size_t i = 1; i < timeline.count; i++)
        assert_true(timeline.points[i].t_ms - timeline.points[i - 1].t_ms <=
                    2 * timeline.interval_ms);
}

static void time_and_allocated_never_fall(void **state)
{
    (void)state;
    timeline_init(&timeline, 10);
    add(100, 5, 1000, 1);
    add(90, 6, 900, 2);
    assert_true(timeline.points[1].t_ms == 100);
    assert_true(timeline.points[1].allocated == 1000);
    assert_true(timeline.points[1].live == 6);
}

static void the_largest_numbers_do_not_wrap(void **state)
{
    (void)state;
    timeline_init(&timeline, UINT64_MAX);
    for (int i = 0; i < 3 * TIMELINE_POINTS; i++)
        add(UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX);
    assert_true(timeline.count <= TIMELINE_POINTS);
    assert_true(timeline.due_ms == UINT64_MAX);
}

/* --- the comment ----------------------------------------------------------------------------- */

static void the_comment_names_its_columns(void **state)
{
    (void)state;
    timeline_init(&timeline, 10);
    char *text = timeline_text(&timeline);
    assert_string_equal(text, "live allocated rss");
    free(text);
    add(0, 1, 2, 3);
    add(10, 4, 5, 0);
    text = timeline_text(&timeline);
    assert_string_equal(text, "live allocated rss 0:1:2:3 10:4:5:0");
    free(text);
}

static void a_full_timeline_of_the_largest_numbers_comes_back(void **state)
{
    (void)state;
    timeline_init(&timeline, 1);
    for (uint64_t i = 0; i < TIMELINE_POINTS; i++)
        add(UINT64_MAX - TIMELINE_POINTS + i, UINT64_MAX - i, UINT64_MAX, UINT64_MAX - 2 * i);
    char *text = timeline_text(&timeline);
    assert_true(strlen(text) < 170000);
    assert_true(timeline_parse(text, &back));
    assert_int_equal(back.count, timeline.count);
    assert_memory_equal(back.points, timeline.points, sizeof(timeline.points));
    free(text);
}

static void an_empty_one_comes_back_empty(void **state)
{
    (void)state;
    back.count = 7;
    assert_true(timeline_parse("live allocated rss", &back));
    assert_int_equal(back.count, 0);
}

static void columns_are_known_by_their_names(void **state)
{
    (void)state;
    assert_true(timeline_parse("rss swap live 5:1:2:3 6:4:5:6", &back));
    assert_int_equal(back.count, 2);
    assert_true(back.points[0].t_ms == 5 && back.points[0].rss == 1);
    assert_true(back.points[0].live == 3 && back.points[0].allocated == 0);
    assert_true(back.points[1].rss == 4 && back.points[1].live == 6);
}

static void damage_leaves_an_empty_timeline(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        " ",
        "live ",
        " live",
        "live  rss",
        "rss 1:2",
        "live live",
        "live:rss 1:2",
        "1:2",
        "live 1",
        "live 1:",
        "live 1:2:3",
        "live 1:2 ",
        "live 1:2  2:3",
        "live 1:2,2:3",
        "live allocated 1:2",
        "live -1:2",
        "live 1:-2",
        "live 1:2 x",
        "live 1:2 rss",
        "live 1:2\n",
        "live 2:1 1:1",
        "live allocated 1:1:2 2:1:1",
        "live 18446744073709551616:1",
        "live 1:18446744073709551616",
        "live a b c d e f g h i j k l m n o p 1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        back.count = 7;
        if (timeline_parse(cases[i], &back))
            fail_msg("'%s' was taken", cases[i]);
        assert_int_equal(back.count, 0);
    }
}

static void more_points_than_there_is_room_for_are_refused(void **state)
{
    (void)state;
    char *text = malloc(TIMELINE_POINTS * 4 + 20);
    strcpy(text, "live");
    for (int i = 0; i < TIMELINE_POINTS; i++)
        strcpy(text + 4 + (size_t)i * 4, " 1:2");
    assert_true(timeline_parse(text, &back));
    assert_int_equal(back.count, TIMELINE_POINTS);
    strcat(text, " 1:2");
    assert_false(timeline_parse(text, &back));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_due_at_whole_intervals),
        cmocka_unit_test(until_it_is_full_every_point_is_kept),
        cmocka_unit_test(when_it_is_full_the_higher_of_each_two_stays),
        cmocka_unit_test(a_long_run_keeps_its_peak_and_enough_points),
        cmocka_unit_test(time_and_allocated_never_fall),
        cmocka_unit_test(the_largest_numbers_do_not_wrap),
        cmocka_unit_test(the_comment_names_its_columns),
        cmocka_unit_test(a_full_timeline_of_the_largest_numbers_comes_back),
        cmocka_unit_test(an_empty_one_comes_back_empty),
        cmocka_unit_test(columns_are_known_by_their_names),
        cmocka_unit_test(damage_leaves_an_empty_timeline),
        cmocka_unit_test(more_points_than_there_is_room_for_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
