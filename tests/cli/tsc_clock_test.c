/* tsc_clock_test.c: the time stamp counter against the clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/collector.h"
#include "cli/tsc_clock.h"

/* What was read between two readings of the counter lies between them, 1 % of a second aside: the
 * speed is known to 0.01 %, and this takes well under a minute. */
static void the_counter_is_where_the_clock_says(void **state)
{
    (void)state;
    tsc_clock_start();
    uint64_t hz = tsc_clock_hz();
    if (hz == 0)
        skip(); /* the kernel does not trust it here */
    uint64_t before = __builtin_ia32_rdtsc();
    uint64_t ns = collector_now_ns();
    uint64_t after = __builtin_ia32_rdtsc();
    uint64_t ticks = tsc_clock_at(ns);
    assert_true(ticks + hz / 100 > before);
    assert_true(ticks < after + hz / 100);
    assert_true(tsc_clock_at(ns + 1000000000) - ticks > hz - hz / 100);
    assert_true(tsc_clock_at(ns + 1000000000) - ticks < hz + hz / 100);
    assert_true(tsc_clock_at(ns - 1000000) < ticks); /* before the first reading too */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_counter_is_where_the_clock_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
