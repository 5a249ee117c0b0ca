/* hook_store_test.c: stacks are interned once, whoever comes first. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "runtime/hook_store.h"
#include "tests/runtime/store_fixture.h"

/* The frames of a stack, leaf first, as a reader finds them. */
static unsigned read_stack(uint32_t stack, uint64_t *pcs, unsigned capacity)
{
    unsigned depth = 0;
    for (uint32_t node = store.stacks[stack].node; node != 0 && depth < capacity;
         node = store.nodes[node].parent)
        pcs[depth++] = store.nodes[node].pc_word;
    return depth;
}

static void equal_stacks_have_one_id_and_their_frames(void **state)
{
    (void)state;
    store_fixture(1, 1 << 20, 4096);
    const uint64_t pcs[] = {0x401000, 0x402000, 0x403000};
    uint32_t stack = store_intern(0, pcs, 3, STORE_FRAME_NONE);
    assert_int_equal(store_intern(0, pcs, 3, STORE_FRAME_NONE), stack);
    assert_int_not_equal(store_intern(0, pcs, 2, STORE_FRAME_NONE), stack);
    assert_int_not_equal(store_intern(0, pcs + 1, 2, STORE_FRAME_NONE), stack);
    uint64_t read[8];
    assert_int_equal(read_stack(stack, read, 8), 3);
    assert_memory_equal(read, pcs, sizeof(pcs));
}

static void a_cut_stack_has_the_pseudo_frame_at_its_root(void **state)
{
    (void)state;
    store_fixture(1, 1 << 20, 4096);
    const uint64_t pcs[] = {0x401000, 0x402000};
    uint32_t whole = store_intern(0, pcs, 2, STORE_FRAME_NONE);
    uint32_t cut = store_intern(0, pcs, 2, STORE_FRAME_TRUNCATED);
    assert_int_not_equal(cut, whole);
    uint64_t read[8];
    assert_int_equal(read_stack(cut, read, 8), 3);
    assert_int_equal(read[2], STORE_FRAME_TRUNCATED);
}

static void a_full_table_charges_other_stacks_and_counts_it(void **state)
{
    (void)state;
    store_fixture(1, 1 << 20, 4096);
    uint32_t others = 0;
    enum { STACKS = 20000 };
    for (uint64_t i = 0; i < STACKS; i++) {
        const uint64_t pcs[] = {0x401000 + i, 0x500000};
        others += store_intern(0, pcs, 2, STORE_FRAME_NONE) == STORE_STACK_OTHER;
    }
    assert_true(others > 0);
    assert_int_equal(store.header->losses[STORE_LOSS_STACK_TABLE_FULL], others);
    assert_true(others >= STACKS - store.geometry.stack_capacity);
    uint64_t read[8];
    assert_int_equal(read_stack(STORE_STACK_OTHER, read, 8), 1);
    assert_int_equal(read[0], STORE_FRAME_OTHER_STACKS);
    /* What was there before is still found. */
    const uint64_t first[] = {0x401000, 0x500000};
    assert_int_not_equal(store_intern(0, first, 2, STORE_FRAME_NONE), STORE_STACK_OTHER);
}

enum { THREADS = 4, SHARED_STACKS = 3000 };
static uint32_t ids[THREADS][SHARED_STACKS];

static void *intern_all(void *thread)
{
    uint32_t *mine = thread;
    for (uint64_t i = 0; i < SHARED_STACKS; i++) {
        const uint64_t pcs[] = {0x401000 + i, 0x500000 + i % 7, 0x600000};
        mine[i] = store_intern(0, pcs, 3, STORE_FRAME_NONE);
    }
    return NULL;
}

static void threads_that_race_agree_on_every_id(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        store_fixture(1, 4 << 20, 4096);
        pthread_t threads[THREADS];
        for (unsigned i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, intern_all, ids[i]), 0);
        for (unsigned i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        for (unsigned i = 1; i < THREADS; i++)
            assert_memory_equal(ids[i], ids[0], sizeof(ids[0]));
        for (unsigned i = 0; i < SHARED_STACKS; i++)
            assert_int_not_equal(ids[0][i], STORE_STACK_OTHER);
    }
}

static void a_node_marked_with_its_unloaded_module_is_not_found_again(void **state)
{
    (void)state;
    store_fixture(1, 1 << 20, 4096);
    const uint64_t pcs[] = {0x7000, 0x402000};
    uint32_t before = store_intern(0, pcs, 2, STORE_FRAME_NONE);
    store.nodes[store.stacks[before].node].pc_word |= 5ull << STORE_PC_BITS;
    uint32_t after = store_intern(0, pcs, 2, STORE_FRAME_NONE);
    assert_int_not_equal(after, before);
    assert_int_equal(store_intern(0, pcs, 2, STORE_FRAME_NONE), after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_stacks_have_one_id_and_their_frames),
        cmocka_unit_test(a_cut_stack_has_the_pseudo_frame_at_its_root),
        cmocka_unit_test(a_full_table_charges_other_stacks_and_counts_it),
        cmocka_unit_test(threads_that_race_agree_on_every_id),
        cmocka_unit_test(a_node_marked_with_its_unloaded_module_is_not_found_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
