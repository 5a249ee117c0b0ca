/* hook_slab_test.c: small objects: memory they take, memory they give back, threads. */
#include "tests/runtime/range_child.h"

#include <pthread.h>

#include "runtime/hook_slab.h"

static void few_of_many_sizes(void)
{
    struct range_record *record;
    start_slabs();
    status_kib("VmRSS:");
    long before = status_kib("VmRSS:");
    for (int round = 0; round < 3; round++)
        for (size_t size = 16; size <= 1024; size += 16)
            CHECK(range_alloc(size, 16, true, &record) != NULL);
    CHECK(status_kib("VmRSS:") - before < 300); /* of which the objects are 100 */
    CHECK(range_overhead_bytes() < 200 << 10);
}

static void a_few_objects_of_many_sizes_take_little_memory(void **state)
{
    (void)state;
    run_in_child(few_of_many_sizes);
}

static void give_back(void)
{
    static void *objects[200000];
    struct range_record *record;
    start_slabs();
    for (size_t i = 0; i < 200000; i++) {
        objects[i] = range_alloc(500, 16, false, &record);
        CHECK(objects[i] != NULL);
        memset(objects[i], 1, 500);
    }
    long full = status_kib("VmRSS:");
    CHECK(full > 200000 / 2);
    for (size_t i = 0; i < 200000; i++)
        free_in_range(objects[i]);
    CHECK(status_kib("VmRSS:") < full - 200000 / 2 + 8192);
    for (size_t i = 0; i < 200000; i++) {
        objects[i] = range_alloc(500, 16, false, &record);
        CHECK(objects[i] != NULL && range_record_of(objects[i]) == record);
    }
    CHECK(range_overhead_bytes() < 20 << 20); /* the chunks are used again */
}

static void empty_chunks_give_their_memory_back_and_are_used_again(void **state)
{
    (void)state;
    run_in_child(give_back);
}

static void one_object_again_and_again(void)
{
    struct range_record *record;
    start_slabs();
    for (size_t size = 1; size <= SLAB_MAX_BYTES; size = size * 3 / 2 + 1) {
        free_in_range(range_alloc(size, 16, true, &record));
        long before = page_faults();
        for (int i = 0; i < 1000; i++)
            free_in_range(range_alloc(size, 16, true, &record));
        CHECK(page_faults() - before < 10);
    }
}

static void an_object_made_and_freed_in_a_loop_takes_no_page_faults(void **state)
{
    (void)state;
    run_in_child(one_object_again_and_again);
}

static void every_size(void)
{
    struct range_record *record, *other;
    start_slabs();
    for (size_t size = 1; size <= SLAB_MAX_BYTES; size++) {
        char *p = range_alloc(size, 16, false, &record), *q = range_alloc(size, 16, false, &other);
        CHECK(p != NULL && q != NULL && record != other);
        size_t usable = range_usable_size(p, record);
        CHECK(usable >= size && usable <= (size < 64 ? 128 : 2 * size + 15));
        CHECK(p + usable <= q || q + range_usable_size(q, other) <= p);
        free_in_range(p);
        free_in_range(q);
    }
}

static void every_size_gets_a_slot_at_most_twice_as_large(void **state)
{
    (void)state;
    run_in_child(every_size);
}

enum { MANY_THREADS = 2000, OBJECTS_EACH = 20 };

static pthread_barrier_t all_hold;

static void *hold_objects(void *argument)
{
    struct range_record *record;
    void *objects[OBJECTS_EACH];
    (void)argument;
    for (size_t i = 0; i < OBJECTS_EACH; i++) {
        objects[i] = range_alloc(40 + i * 30, 16, true, &record);
        CHECK(objects[i] != NULL);
    }
    pthread_barrier_wait(&all_hold); /* all threads hold theirs */
    pthread_barrier_wait(&all_hold); /* main has looked */
    for (size_t i = 0; i < OBJECTS_EACH; i++)
        free_in_range(objects[i]);
    return NULL;
}

static void many_threads(void)
{
    static pthread_t threads[MANY_THREADS];
    pthread_attr_t attributes;
    start_slabs();
    pthread_barrier_init(&all_hold, NULL, MANY_THREADS + 1);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    for (int i = 0; i < MANY_THREADS; i++)
        CHECK(pthread_create(&threads[i], &attributes, hold_objects, NULL) == 0);
    pthread_barrier_wait(&all_hold);
    CHECK(range_overhead_bytes() < 16 << 20);
    pthread_barrier_wait(&all_hold);
    for (int i = 0; i < MANY_THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void two_thousand_threads_with_twenty_objects_each_fit_easily(void **state)
{
    (void)state;
    run_in_child(many_threads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_few_objects_of_many_sizes_take_little_memory),
        cmocka_unit_test(empty_chunks_give_their_memory_back_and_are_used_again),
        cmocka_unit_test(an_object_made_and_freed_in_a_loop_takes_no_page_faults),
        cmocka_unit_test(every_size_gets_a_slot_at_most_twice_as_large),
        cmocka_unit_test(two_thousand_threads_with_twenty_objects_each_fit_easily),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
