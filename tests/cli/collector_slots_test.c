/* collector_slots_test.c: the shared store as its owner sees it. */
#include "cli/collector_slots.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "proto/error.h"

#define LARGE (16ull << 30) /* four slots */

static void sizes_are_whole_pages_within_the_layouts_limits(void **state)
{
    (void)state;
    assert_int_equal(slots_bytes_for(0), STORE_MIN_SLOT_BYTES);
    assert_int_equal(slots_bytes_for((1 << 20) + 1), (1 << 20) + 4096);
    assert_int_equal(slots_bytes_for(UINT64_MAX), STORE_MAX_SLOT_BYTES);
    struct slots slots;
    assert_true(slots_open(&slots, 1 << 20, NULL));
    assert_int_equal(slots.count, 1024);
    slots_close(&slots);
    assert_true(slots_open(&slots, LARGE, NULL));
    assert_int_equal(slots.count, 4);
    assert_int_equal(slots.directory->slot_count, 4);
    assert_int_equal(slots.directory->slots_offset, slots_offset(&slots, 0));
    slots_close(&slots);
}

static void the_store_cannot_be_shrunk_or_grown(void **state)
{
    (void)state;
    struct slots slots;
    assert_true(slots_open(&slots, 1 << 20, NULL));
    assert_int_equal(ftruncate(slots.fd, 4096), -1);
    assert_int_equal(errno, EPERM);
    assert_int_equal(ftruncate(slots.fd, 1ll << 40), -1);
    assert_int_equal(fcntl(slots.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    slots_close(&slots);
}

static void a_retired_slot_is_clear_and_comes_last(void **state)
{
    (void)state;
    struct slots slots;
    assert_true(slots_open(&slots, LARGE, NULL));
    int first = slots_assign(&slots);
    assert_int_equal(slots_state(&slots, (uint32_t)first), STORE_ENTRY_ASSIGNED);
    assert_int_equal(pwrite(slots.fd, "data", 4, (off_t)slots_offset(&slots, (uint32_t)first)), 4);
    slots_retire(&slots, (uint32_t)first);
    char bytes[4] = "????";
    assert_int_equal(pread(slots.fd, bytes, 4, (off_t)slots_offset(&slots, (uint32_t)first)), 4);
    assert_memory_equal(bytes, "\0\0\0\0", 4);
    struct stat st;
    assert_int_equal(fstat(slots.fd, &st), 0);
    assert_true(st.st_blocks <= 8); /* the directory's page is all that is left */
    assert_int_equal(slots.directory->entries[first].generation, 1);
    for (int i = 0; i < 3; i++)
        assert_int_not_equal(slots_assign(&slots), first);
    assert_int_equal(slots_assign(&slots), first);
    assert_int_equal(slots_assign(&slots), -1);
    slots_close(&slots);
}

static void slots_are_freed_first_in_first_out(void **state)
{
    (void)state;
    struct slots slots;
    assert_true(slots_open(&slots, LARGE, NULL));
    for (int i = 0; i < 4; i++)
        slots_assign(&slots);
    static const uint32_t order[] = {2, 0, 3, 1};
    for (int i = 0; i < 4; i++)
        slots_retire(&slots, order[i]);
    for (int i = 0; i < 4; i++)
        assert_int_equal(slots_assign(&slots), order[i]);
    slots_close(&slots);
}

static void who_maps_the_store_is_noticed(void **state)
{
    (void)state;
    struct slots slots;
    assert_true(slots_open(&slots, 1 << 20, NULL));
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    void *mapping = mmap(NULL, 4096, PROT_NONE, MAP_SHARED, slots.fd, 0);
    pid_t child = fork(); /* it inherits that mapping, but not the directory's */
    if (child == 0) {
        char byte;
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
    }
    munmap(mapping, 4096);
    assert_true(slots_in_use(&slots));
    assert_non_null(slots.directory);
    close(ends[1]);
    waitpid(child, NULL, 0);
    assert_false(slots_in_use(&slots));
    close(ends[0]);
    slots_close(&slots);
}

/* In a child, since a hard limit cannot be raised again. */
static void a_file_size_limit_means_fewer_slots(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        struct slots slots;
        struct rlimit limit = {10 << 20, 10 << 20}, now;
        setrlimit(RLIMIT_FSIZE, &limit);
        bool ok = slots_open(&slots, 1 << 20, NULL) && slots.count >= 4 && slots.count <= 9 &&
                  getrlimit(RLIMIT_FSIZE, &now) == 0 && now.rlim_cur == limit.rlim_cur;
        slots_close(&slots);
        _exit(ok ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void a_soft_file_size_limit_does_not_hold_for_the_store(void **state)
{
    (void)state;
    struct rlimit before, less;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    less = before;
    less.rlim_cur = 100 << 10;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
    struct slots slots;
    bool ok = slots_open(&slots, 1 << 20, NULL);
    slots_close(&slots);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_true(ok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_whole_pages_within_the_layouts_limits),
        cmocka_unit_test(the_store_cannot_be_shrunk_or_grown),
        cmocka_unit_test(a_retired_slot_is_clear_and_comes_last),
        cmocka_unit_test(slots_are_freed_first_in_first_out),
        cmocka_unit_test(who_maps_the_store_is_noticed),
        cmocka_unit_test(a_file_size_limit_means_fewer_slots),
        cmocka_unit_test(a_soft_file_size_limit_does_not_hold_for_the_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
