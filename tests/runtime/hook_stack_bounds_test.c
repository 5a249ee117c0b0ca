/* hook_stack_bounds_test.c: what a walk may read, on stacks and memory of every kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "runtime/hook_stack_bounds.h"

enum { PAGE = 4096 };

static int start(void **state)
{
    (void)state;
    stack_bounds_start(getauxval(AT_EXECFN), 8 << 20);
    return 0;
}

static uintptr_t here(void)
{
    return (uintptr_t)__builtin_frame_address(0);
}

/* count pages, those whose bit is set in readable can be read. */
static uintptr_t pages(size_t count, unsigned readable)
{
    char *memory = mmap(NULL, count * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    for (size_t i = 0; i < count; i++) {
        if ((readable >> i & 1) != 0)
            assert_int_equal(mprotect(memory + i * PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
    }
    return (uintptr_t)memory;
}

static void test_the_main_threads_stack_is_known_to_its_end(void **state)
{
    struct stack_bounds bounds;
    (void)state;
    stack_bounds_init(&bounds, here(), true);
    assert_true(stack_bounds_hold(bounds, here()));
    assert_true(stack_bounds_hold(bounds, getauxval(AT_EXECFN)));
    assert_true(bounds.low > here() - (1 << 20));
}

static __attribute__((noinline)) struct stack_bounds bounds_deep_down(void)
{
    volatile char block[2 << 20];
    struct stack_bounds bounds;
    block[0] = 1; /* the kernel lets the stack grow */
    stack_bounds_init(&bounds, (uintptr_t)&block[0], true);
    return bounds;
}

static void test_the_main_threads_stack_may_grow_after_a_walk_elsewhere(void **state)
{
    uintptr_t memory = pages(1, 1);
    struct stack_bounds bounds;
    (void)state;
    stack_bounds_init(&bounds, memory + 100, true);
    assert_false(stack_bounds_hold(bounds, here()));
    bounds = bounds_deep_down();
    assert_true(stack_bounds_hold(bounds, here()));
    assert_true(here() - bounds.low >= 2 << 20);
    munmap((void *)memory, PAGE);
}

static void *thread_bounds(void *result)
{
    struct stack_bounds bounds;
    uintptr_t block;
    __asm__("mov %%fs:0, %0" : "=r"(block));
    stack_bounds_init(&bounds, here(), true);
    *(bool *)result = stack_bounds_hold(bounds, here()) && stack_bounds_hold(bounds, block) &&
                      !stack_bounds_hold(bounds, block + PAGE);
    return NULL;
}

static void test_a_threads_stack_ends_at_its_control_block(void **state)
{
    pthread_t thread;
    bool good = false;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, thread_bounds, &good), 0);
    pthread_join(thread, NULL);
    assert_true(good);
}

static void test_a_stack_elsewhere_is_taken_page_by_page(void **state)
{
    uintptr_t memory = pages(6, 0x16); /* 1, 2 and 4 can be read */
    struct stack_bounds bounds;
    (void)state;
    stack_bounds_init(&bounds, memory + PAGE + 100, true);
    assert_true(stack_bounds_hold(bounds, memory + PAGE));
    assert_false(stack_bounds_hold(bounds, memory + 2 * PAGE));
    assert_true(stack_bounds_widen(&bounds, memory + 2 * PAGE));
    assert_true(stack_bounds_hold(bounds, memory + PAGE));
    assert_true(stack_bounds_hold(bounds, memory + 3 * PAGE - 8));
    assert_false(stack_bounds_hold(bounds, memory + 3 * PAGE - 7));
    assert_false(stack_bounds_widen(&bounds, memory + 3 * PAGE - 7));
    assert_false(stack_bounds_widen(&bounds, memory + 3 * PAGE));
    assert_false(stack_bounds_widen(&bounds, memory));
    /* Beyond the hole they move, and do not span it. */
    assert_true(stack_bounds_widen(&bounds, memory + 4 * PAGE));
    assert_true(stack_bounds_hold(bounds, memory + 4 * PAGE));
    assert_false(stack_bounds_hold(bounds, memory + 3 * PAGE));
    assert_false(stack_bounds_hold(bounds, memory + 2 * PAGE));
    munmap((void *)memory, 6 * PAGE);
}

static void test_a_word_across_two_pages_needs_both(void **state)
{
    uintptr_t memory = pages(4, 0x6);
    struct stack_bounds bounds;
    (void)state;
    stack_bounds_init(&bounds, memory + PAGE, true);
    assert_false(stack_bounds_hold(bounds, memory + 2 * PAGE - 4));
    assert_true(stack_bounds_widen(&bounds, memory + 2 * PAGE - 4));
    assert_true(stack_bounds_hold(bounds, memory + 2 * PAGE - 4));
    assert_false(stack_bounds_widen(&bounds, memory + 3 * PAGE - 4));
    assert_false(stack_bounds_widen(&bounds, memory + PAGE - 4));
    munmap((void *)memory, 4 * PAGE);
}

static void test_nothing_is_known_of_an_sp_that_is_not_live(void **state)
{
    uintptr_t memory = pages(2, 0);
    struct stack_bounds bounds;
    (void)state;
    stack_bounds_init(&bounds, memory + 100, false);
    assert_false(stack_bounds_hold(bounds, memory + 100));
    assert_false(stack_bounds_widen(&bounds, memory + 100));
    munmap((void *)memory, 2 * PAGE);
}

static void test_addresses_that_cannot_be_are_refused(void **state)
{
    static const uintptr_t impossible[] = {0,
                                           8,
                                           UINTPTR_MAX,
                                           UINTPTR_MAX - 7,
                                           UINTPTR_MAX - 4096,
                                           (uintptr_t)1 << 47,
                                           ((uintptr_t)1 << 47) - 4,
                                           (uintptr_t)1 << 63};
    (void)state;
    for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++) {
        struct stack_bounds bounds;
        stack_bounds_init(&bounds, impossible[i], false);
        assert_false(stack_bounds_hold(bounds, impossible[i]));
        assert_false(stack_bounds_widen(&bounds, impossible[i]));
        assert_false(stack_bounds_probe(impossible[i], 8));
    }
}

static void test_errno_is_kept(void **state)
{
    struct stack_bounds bounds;
    (void)state;
    errno = 4711;
    stack_bounds_init(&bounds, 8, false);
    stack_bounds_widen(&bounds, 8);
    assert_int_equal(errno, 4711);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_main_threads_stack_is_known_to_its_end),
        cmocka_unit_test(test_the_main_threads_stack_may_grow_after_a_walk_elsewhere),
        cmocka_unit_test(test_a_threads_stack_ends_at_its_control_block),
        cmocka_unit_test(test_a_stack_elsewhere_is_taken_page_by_page),
        cmocka_unit_test(test_a_word_across_two_pages_needs_both),
        cmocka_unit_test(test_nothing_is_known_of_an_sp_that_is_not_live),
        cmocka_unit_test(test_addresses_that_cannot_be_are_refused),
        cmocka_unit_test(test_errno_is_kept),
    };
    return cmocka_run_group_tests_name("stack_bounds", tests, start, NULL);
}
