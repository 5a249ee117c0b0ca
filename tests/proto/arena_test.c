/* arena_test.c: memory that goes all at once. */
#include "proto/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void each_allocation_is_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    struct arena *arena = arena_new();
    unsigned char *blocks[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        size_t size = i * 37 % 3000;
        blocks[i] = arena_alloc(arena, size);
        assert_int_equal((uintptr_t)blocks[i] % 16, 0);
        for (size_t at = 0; at < size; at++)
            assert_int_equal(blocks[i][at], 0);
        memset(blocks[i], (int)(i % 255) + 1, size);
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t at = 0; at < i * 37 % 3000; at++)
            assert_int_equal(blocks[i][at], i % 255 + 1);
    }
    arena_free(arena);
}

static void a_large_allocation_leaves_the_small_ones_alone(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    char *large_first = arena_alloc(arena, 10 << 20);
    char *small = arena_text(arena, "small", 5);
    char *large = arena_alloc(arena, 5 << 20);
    memset(large_first, 1, 10 << 20);
    memset(large, 2, 5 << 20);
    char *behind = arena_text(arena, "behind", 6);
    assert_string_equal(small, "small");
    assert_string_equal(behind, "behind");
    arena_free(arena);
}

static void size_zero_gives_a_pointer(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    void *first = arena_alloc(arena, 0);
    void *second = arena_array(arena, 0, 8);
    assert_non_null(first);
    assert_non_null(second);
    assert_ptr_not_equal(first, second);
    arena_free(arena);
    arena_free(NULL);
}

static void text_is_copied_and_ended(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    char source[] = "abcdef";
    char *copy = arena_text(arena, source, 3);
    memset(source, 'x', 3);
    assert_string_equal(copy, "abc");
    assert_string_equal(arena_text(arena, NULL, 0), "");
    arena_free(arena);
}

static void growing_keeps_what_was_there(void **state)
{
    (void)state;
    size_t capacity = 0;
    int *array = NULL;
    for (int i = 0; i < 1000; i++) {
        array = heap_grow(array, &capacity, (size_t)i + 1, sizeof(*array));
        assert_true(capacity > (size_t)i);
        array[i] = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(array[i], i);
    assert_ptr_equal(heap_grow(array, &capacity, 1, sizeof(*array)), array);
    free(array);
}

static void heap_blocks_are_never_null(void **state)
{
    (void)state;
    void *block = heap_alloc(0);
    assert_non_null(block);
    block = heap_realloc(block, 100);
    assert_non_null(block);
    free(block);
    char *text = heap_text("text");
    assert_string_equal(text, "text");
    free(text);
}

/* The exit status of a child that runs action, with its stderr in *said. */
static int status_of(void (*action)(void), char *said, size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        action();
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    ssize_t got;
    while (used + 1 < size && (got = read(ends[0], said + used, size - used - 1)) > 0)
        used += (size_t)got;
    said[used] = '\0';
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* AddressSanitizer, where it is built in, asks this: a size that cannot be had gives NULL, as
 * without it, instead of ending the program. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* volatile: the compiler would warn that these sizes cannot be had */
static volatile size_t half = SIZE_MAX / 2;

static void overflow_in_arena_array(void)
{
    arena_array(arena_new(), half, 4);
}

static void overflow_in_arena_alloc(void)
{
    arena_alloc(arena_new(), half * 2 + 1);
}

static void overflow_in_heap_grow(void)
{
    size_t capacity = 0;
    heap_grow(NULL, &capacity, half + 2, 1);
}

static void refusal_in_heap_alloc(void)
{
    heap_alloc(half - 100);
}

static void no_memory_is_one_line_and_status_1(void **state)
{
    (void)state;
    void (*const actions[])(void) = {overflow_in_arena_array, overflow_in_arena_alloc,
                                     overflow_in_heap_grow, refusal_in_heap_alloc};
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        char said[4096];
        assert_int_equal(status_of(actions[i], said, sizeof(said)), 1);
        assert_non_null(strstr(said, "heapprof: out of memory\n"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_is_zeroed_aligned_and_apart),
        cmocka_unit_test(a_large_allocation_leaves_the_small_ones_alone),
        cmocka_unit_test(size_zero_gives_a_pointer),
        cmocka_unit_test(text_is_copied_and_ended),
        cmocka_unit_test(growing_keeps_what_was_there),
        cmocka_unit_test(heap_blocks_are_never_null),
        cmocka_unit_test(no_memory_is_one_line_and_status_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
