/* hook_next_mimalloc_test.c: mimalloc as the next allocator: whose is what, and when it cannot. */
#include "runtime/hook_next_mimalloc.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>

#include "runtime/hook_heap_gate.h"
#include "runtime/hook_mimalloc.h"
#include "runtime/hook_next.h"
#include "runtime/hook_range.h"
#include "runtime/next.h"
#include "tests/runtime/range_child.h"

/* mimalloc has bytes of its part, 0 for all of it. */
static void install(size_t bytes)
{
    uintptr_t base;
    size_t all;
    struct mimalloc_calls calls;
    struct mimalloc_wishes wishes;
    next_start();
    CHECK(range_reserve() && range_mimalloc_part(&base, &all) && heap_gate_start());
    CHECK(mimalloc_load(mimalloc_path(), false, &calls, &wishes));
    CHECK(mimalloc_start(&calls, base, bytes != 0 ? bytes : all, &wishes));
    heap_gate_open(mimalloc.mi_thread_done);
    range_leave_mimalloc_part();
    next_mimalloc_install(base, bytes != 0 ? bytes : all);
}

static bool is_mimallocs(const void *p)
{
    return (uintptr_t)p >= next_mimalloc_base && (uintptr_t)p < next_mimalloc_end;
}

/* As the interposed free: what is in the range never comes to next.free. */
static void free_any(void *p)
{
    if (range_holds(p))
        free_in_range(p);
    else
        next.free(p);
}

static void whose_is_what(void)
{
    void *of_libc = malloc(100);
    install(0);
    CHECK(is_mimallocs(next.malloc(0)) && is_mimallocs(next.malloc((512 << 10) - 1)));
    void *large = next.malloc(512 << 10);
    CHECK(range_holds(large) && !is_mimallocs(large));
    CHECK(range_holds(next.memalign(128 << 10, 10)));
    of_libc = next.realloc(of_libc, 3000);
    CHECK(of_libc != NULL && !is_mimallocs(of_libc) && !range_holds(of_libc));
    CHECK(next.malloc_usable_size(of_libc) >= 3000);
    next.free(of_libc);
    next.free(NULL);
    /* From mimalloc to a slot, when it becomes large. */
    char *p = strcpy(next.malloc(100), "kept");
    p = next.realloc(p, 1 << 20);
    CHECK(range_holds(p) && strcmp(p, "kept") == 0);
    CHECK(next.realloc(next.malloc(100), 0) == NULL);
}

static void answers_are_glibcs(void)
{
    install(0);
    void *p = &p;
    errno = 7;
    CHECK(next.posix_memalign(&p, 24, 10) == EINVAL && p == &p && errno == 7);
    CHECK(next.posix_memalign(&p, 64, 10) == 0 && (uintptr_t)p % 64 == 0 && errno == 7);
    CHECK((uintptr_t)next.memalign(1, 1) % 16 == 0 && (uintptr_t)next.memalign(48, 1) % 64 == 0);
    CHECK((uintptr_t)next.valloc(1) % 4096 == 0);
    CHECK(next.malloc_usable_size(next.pvalloc(4097)) >= 8192);
    CHECK(next.malloc_usable_size(NULL) == 0);
    CHECK(next.malloc(SIZE_MAX - 100) == NULL && errno == ENOMEM);
    for (size_t size = 1; size < 2 << 20; size *= 3) {
        char *zeros = next.malloc(size);
        memset(zeros, 1, size);
        free_any(zeros);
        zeros = next.calloc(1, size);
        CHECK(zeros[0] == 0 && memcmp(zeros, zeros + 1, size - 1) == 0);
        free_any(zeros);
    }
}

/* As a signal handler that has interrupted mimalloc. */
static void from_inside(void)
{
    install(0);
    void *block = next.malloc(700);
    CHECK(is_mimallocs(block) && heap_gate_enter());
    void *p = next.malloc(100);
    CHECK(range_holds(p) && !is_mimallocs(p));
    char *zeros = next.calloc(10, 200);
    CHECK(range_holds(zeros) && zeros[1999] == 0);
    next.free(block);
    heap_gate_leave();
    bool again = false;
    for (int i = 0; i < 10000 && !again; i++)
        again = next.malloc(700) == block;
    CHECK(again);
}

static void when_full(void)
{
    enum { BLOCKS = 100000, BYTES = 1000 };
    static char *blocks[BLOCKS];
    install(2 * MIMALLOC_SEGMENT_BYTES);
    int of_libc = 0;
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = memset(next.malloc(BYTES), i, BYTES);
        of_libc += !is_mimallocs(blocks[i]) && !range_holds(blocks[i]);
    }
    CHECK(of_libc > BLOCKS / 4 && of_libc < BLOCKS / 2);
    for (int i = 0; i < BLOCKS; i++) {
        CHECK(blocks[i][BYTES - 1] == (char)i);
        next.free(blocks[i]);
    }
    /* With room again, and asked again now and then, mimalloc takes over. */
    int of_mimalloc = 0;
    for (int i = 0; i < 1000; i++)
        of_mimalloc += is_mimallocs(next.malloc(BYTES));
    CHECK(of_mimalloc > 500);
}

static void each_pointer_goes_to_its_own_allocator(void **state)
{
    (void)state;
    run_in_child(whose_is_what);
}

static void the_answers_are_glibcs(void **state)
{
    (void)state;
    run_in_child(answers_are_glibcs);
}

static void who_is_inside_already_gets_an_object_of_the_range(void **state)
{
    (void)state;
    run_in_child(from_inside);
}

static void when_mimalloc_is_full_the_c_library_takes_over(void **state)
{
    (void)state;
    run_in_child(when_full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_pointer_goes_to_its_own_allocator),
        cmocka_unit_test(the_answers_are_glibcs),
        cmocka_unit_test(who_is_inside_already_gets_an_object_of_the_range),
        cmocka_unit_test(when_mimalloc_is_full_the_c_library_takes_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
