/* hook_stack_test.c: stack_capture on the stacks that break unwinders.
 *
 * What ordinary code looks like, instruction by instruction, is compared with libunwind by
 * hook_stack.bats; here is what needs a thread, a coroutine, a signal or code without tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/runtime/stack_oracle.h"

enum { PAGE = 4096 };

static uint64_t pcs[STACK_MAX_FRAMES + 1];
static size_t count;
static enum stack_end end;

static __attribute__((noinline)) void capture(void)
{
    count = stack_capture(pcs, STACK_MAX_FRAMES, &end);
    __asm__ volatile("");
}

/* The number of frames inside [function, function + size), of those captured last. */
static size_t frames_in(uintptr_t function, size_t size)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += pcs[i] - function < size;
    return found;
}

static __attribute__((noinline)) int recursion(int depth)
{
    if (depth == 0) {
        capture();
        return 0;
    }
    depth += recursion(depth - 1);
    __asm__ volatile("" : "+r"(depth)); /* no tail call, no loop */
    return depth;
}

static size_t descriptors_open(void)
{
    size_t open_count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (readdir(directory) != NULL)
        open_count++;
    closedir(directory);
    return open_count;
}

static size_t descriptors_before;
static bool fallback;

static int start(void **state)
{
    (void)state;
    descriptors_before = descriptors_open();
    fallback = stack_start();
    return 0;
}

static void test_start_leaves_no_descriptor_open(void **state)
{
    (void)state;
    assert_true(fallback); /* the tests' packages include libunwind */
    assert_int_equal(descriptors_open(), descriptors_before);
}

static void test_leaf_is_the_caller_and_root_the_entry_point(void **state)
{
    static struct oracle_stack ours, theirs;
    (void)state;
    capture();
    assert_true(count > 3);
    assert_int_equal(end, STACK_END_ROOT);
    assert_int_equal(frames_in((uintptr_t)capture, 64), 1);
    assert_true(pcs[0] - (uintptr_t)capture < 64);
    assert_true(oracle_agrees(&ours, &theirs));
}

static void test_a_deep_stack_is_cut_at_the_capacity(void **state)
{
    (void)state;
    recursion(600);
    assert_int_equal(count, STACK_MAX_FRAMES);
    assert_int_equal(end, STACK_END_DEPTH);
    recursion(100);
    assert_in_range(count, 104, 120);
    assert_int_equal(end, STACK_END_ROOT);
}

static void test_capacity_that_just_suffices_reaches_the_root(void **state)
{
    size_t all, got;
    enum stack_end ended;
    (void)state;
    /* Both from this function, so both have the same number of frames. */
    all = stack_capture(pcs, STACK_MAX_FRAMES, &ended);
    assert_int_equal(ended, STACK_END_ROOT);
    got = stack_capture(pcs, all, &ended);
    assert_int_equal(got, all);
    assert_int_equal(ended, STACK_END_ROOT);
    pcs[all - 1] = 77;
    got = stack_capture(pcs, all - 1, &ended);
    assert_int_equal(got, all - 1);
    assert_int_equal(ended, STACK_END_DEPTH);
    assert_int_equal(pcs[all - 1], 77);
    assert_int_equal(stack_capture(pcs, 0, &ended), 0);
    assert_int_equal(ended, STACK_END_DEPTH);
}

static void test_errno_is_kept(void **state)
{
    (void)state;
    stack_forget(0, UINTPTR_MAX);
    errno = 4711;
    capture();
    assert_int_equal(errno, 4711);
}

/* A frame whose CFA is counted from rbx: legal, rare, and nothing that a rule can say. */
void call_with_rbx_frame(void (*function)(void));
__asm__(".text\n.globl call_with_rbx_frame\n.type call_with_rbx_frame, @function\n"
        "call_with_rbx_frame:\n .cfi_startproc\n"
        " push %rbx\n .cfi_def_cfa_offset 16\n .cfi_offset %rbx, -16\n"
        " mov %rsp, %rbx\n .cfi_def_cfa_register %rbx\n"
        " and $-64, %rsp\n call *%rdi\n"
        " mov %rbx, %rsp\n .cfi_def_cfa_register %rsp\n pop %rbx\n .cfi_def_cfa_offset 8\n ret\n"
        " .cfi_endproc\n.size call_with_rbx_frame, . - call_with_rbx_frame\n");

static struct oracle_stack fallback_ours, fallback_theirs;
static bool fallback_agrees;
static void compare_with_oracle(void)
{
    fallback_agrees = oracle_agrees(&fallback_ours, &fallback_theirs);
}

static void test_libunwind_takes_over_where_rules_do_not_suffice(void **state)
{
    (void)state;
    call_with_rbx_frame(compare_with_oracle);
    assert_true(fallback_agrees);
    assert_int_equal(fallback_ours.end, STACK_END_ROOT);
}

static void test_the_fallback_allocates_nothing_and_opens_nothing(void **state)
{
    size_t open_before = descriptors_open();
    struct mallinfo2 before, after;
    (void)state;
    call_with_rbx_frame(capture);
    before = mallinfo2();
    for (int i = 0; i < 2000; i++)
        call_with_rbx_frame(capture);
    after = mallinfo2();
    assert_int_equal(end, STACK_END_ROOT);
    assert_int_equal(before.uordblks, after.uordblks);
    assert_int_equal(before.hblkhd, after.hblkhd);
    assert_int_equal(descriptors_open(), open_before);
}

static void capture_elsewhere(void)
{
    uint64_t mine[STACK_MAX_FRAMES];
    enum stack_end ended;
    if (stack_capture(mine, STACK_MAX_FRAMES, &ended) < 2)
        abort();
}

static void *capture_with_fallback(void *stop)
{
    while (!__atomic_load_n((bool *)stop, __ATOMIC_RELAXED))
        call_with_rbx_frame(capture_elsewhere);
    return NULL;
}

static void test_a_child_forked_in_the_middle_of_a_fallback_still_captures(void **state)
{
    static bool stop;
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, capture_with_fallback, &stop), 0);
    for (int i = 0; i < 50; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            call_with_rbx_frame(capture);
            _exit(count >= 2 ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
}

static void *capture_in_thread(void *unused)
{
    (void)unused;
    recursion(3);
    return (void *)(uintptr_t)(end == STACK_END_ROOT && count >= 6 && count < 16);
}

static void run_thread(size_t stack_bytes, void *stack)
{
    pthread_attr_t attributes;
    pthread_t thread;
    void *good = NULL;
    pthread_attr_init(&attributes);
    if (stack != NULL)
        pthread_attr_setstack(&attributes, stack, stack_bytes);
    else if (stack_bytes != 0)
        pthread_attr_setstacksize(&attributes, stack_bytes);
    assert_int_equal(pthread_create(&thread, &attributes, capture_in_thread, NULL), 0);
    pthread_join(thread, &good);
    pthread_attr_destroy(&attributes);
    assert_non_null(good);
}

static void test_threads_end_at_their_root(void **state)
{
    (void)state;
    run_thread(0, NULL);
    run_thread((size_t)PTHREAD_STACK_MIN, NULL);
    run_thread(64 << 20, NULL);
}

static void test_a_thread_may_have_a_stack_of_the_programs(void **state)
{
    size_t size = 64 * PAGE;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_ptr_not_equal(memory, MAP_FAILED);
    run_thread(size, memory);
    munmap(memory, size);
}

static ucontext_t main_context, coroutine_context;

static void in_coroutine(void)
{
    recursion(4);
    swapcontext(&coroutine_context, &main_context);
}

/* Runs function on [stack, stack + size), with unreadable memory on both sides. */
static void run_coroutine(void (*function)(void), char **stack, size_t size)
{
    char *memory = mmap(NULL, size + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory + PAGE, size, PROT_READ | PROT_WRITE), 0);
    *stack = memory + PAGE;
    memset(*stack, 0xa5, size);
    getcontext(&coroutine_context);
    coroutine_context.uc_stack.ss_sp = *stack;
    coroutine_context.uc_stack.ss_size = size;
    coroutine_context.uc_link = NULL;
    makecontext(&coroutine_context, function, 0);
    swapcontext(&main_context, &coroutine_context);
}

static void drop_coroutine(char *stack, size_t size)
{
    munmap(stack - PAGE, size + 2 * PAGE);
}

static void test_a_coroutine_between_guard_pages_is_walked_to_its_root(void **state)
{
    size_t size = 4 * PAGE;
    char *stack;
    (void)state;
    for (int i = 0; i < 3; i++) {
        run_coroutine(in_coroutine, &stack, size);
        assert_int_equal(end, STACK_END_ROOT);
        assert_in_range(count, 7, 8); /* capture, recursion five times, in_coroutine, its start */
        drop_coroutine(stack, size);
    }
}

static void *coroutine_in_thread(void *unused)
{
    char *stack;
    (void)unused;
    recursion(1); /* the thread's own stack is known by now */
    run_coroutine(in_coroutine, &stack, 4 * PAGE);
    drop_coroutine(stack, 4 * PAGE);
    return (void *)(uintptr_t)(end == STACK_END_ROOT && count >= 7 && count <= 8);
}

static void test_a_thread_may_run_coroutines(void **state)
{
    pthread_t thread;
    void *good = NULL;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, coroutine_in_thread, NULL), 0);
    pthread_join(thread, &good);
    assert_non_null(good);
}

static char *stack_at_capture;
static void capture_marking_depth(void)
{
    stack_at_capture = __builtin_frame_address(0);
    stack_forget(0, UINTPTR_MAX);
    count = stack_capture(pcs, STACK_MAX_FRAMES, &end);
    swapcontext(&coroutine_context, &main_context);
}

static void test_a_capture_of_new_pcs_uses_less_than_1536_bytes_of_stack(void **state)
{
    size_t size = 4 * PAGE;
    char *stack;
    char *lowest;
    (void)state;
    run_coroutine(capture_marking_depth, &stack, size);
    for (lowest = stack; *(unsigned char *)lowest == 0xa5; lowest++)
        continue;
    print_message("# stack used: %td bytes\n", stack_at_capture - lowest);
    assert_int_equal(end, STACK_END_ROOT);
    assert_in_range(stack_at_capture - lowest, 200, 1536);
    drop_coroutine(stack, size);
}

static void test_code_without_tables_ends_the_walk(void **state)
{
    /* sub $8, %rsp; call *%rdi; add $8, %rsp; ret */
    static const uint8_t code[] = {0x48, 0x83, 0xec, 8, 0xff, 0xd7, 0x48, 0x83, 0xc4, 8, 0xc3};
    uint8_t *memory =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void (*thunk)(void (*)(void));
    (void)state;
    assert_ptr_not_equal(memory, MAP_FAILED);
    memcpy(memory, code, sizeof(code));
    memcpy(&thunk, &memory, sizeof(thunk));
    thunk(capture);
    assert_int_equal(end, STACK_END_UNKNOWN);
    assert_int_equal(count, 2);
    assert_int_equal(pcs[1], (uintptr_t)memory + 5);
    munmap(memory, PAGE);
}

/* A function that says its CFA is rbp + 16, and has in rbp what its caller wants. */
void call_with_rbp(uintptr_t rbp, void (*function)(void));
__asm__(".text\n.globl call_with_rbp\n.type call_with_rbp, @function\n"
        "call_with_rbp:\n .cfi_startproc\n"
        " push %rbp\n .cfi_def_cfa %rbp, 16\n .cfi_offset %rbp, -16\n"
        " mov %rdi, %rbp\n call *%rsi\n pop %rbp\n .cfi_def_cfa %rsp, 8\n ret\n"
        " .cfi_endproc\n.size call_with_rbp, . - call_with_rbp\n");

static void test_garbage_in_rbp_ends_the_walk_unharmed(void **state)
{
    char *hole = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uintptr_t top = (uintptr_t)__builtin_frame_address(0);
    const uintptr_t garbage[] = {0,
                                 1,
                                 8,
                                 UINTPTR_MAX,
                                 UINTPTR_MAX - 15,
                                 UINTPTR_MAX - 16,
                                 UINTPTR_MAX - 23,
                                 (uintptr_t)1 << 47,
                                 ((uintptr_t)1 << 47) - 24,
                                 (uintptr_t)1 << 63,
                                 0xdeadbeef,
                                 0xffffffffff600000,
                                 (uintptr_t)hole,
                                 top - 4096,
                                 top + (1 << 30)};
    (void)state;
    for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
        call_with_rbp(garbage[i], capture);
        assert_int_equal(end, STACK_END_UNKNOWN);
        assert_int_equal(count, 2);
    }
    munmap(hole, PAGE);
}

/* Executes an instruction that traps, then returns. */
void trap_here(void);
extern const char trap_instruction[];
__asm__(".text\n.globl trap_here\n.type trap_here, @function\n"
        "trap_here:\n .cfi_startproc\ntrap_instruction:\n ud2\n ret\n"
        " .cfi_endproc\n.size trap_here, . - trap_here\n");

static void on_trap(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    capture();
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

static __attribute__((noinline)) void trap(int flags)
{
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | flags};
    struct sigaction before;
    sigaction(SIGILL, &action, &before);
    trap_here();
    sigaction(SIGILL, &before, NULL);
}

static void test_the_interrupted_frame_has_its_exact_pc(void **state)
{
    (void)state;
    trap(0);
    assert_int_equal(end, STACK_END_ROOT);
    assert_int_equal(pcs[3], (uintptr_t)trap_instruction);
    assert_true(pcs[4] - (uintptr_t)trap < 200);
}

static void test_a_handler_on_another_stack_is_walked_into_the_thread(void **state)
{
    size_t size = (size_t)sysconf(_SC_SIGSTKSZ);
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t other = {.ss_sp = memory, .ss_size = size};
    stack_t none = {.ss_flags = SS_DISABLE};
    (void)state;
    sigaltstack(&other, NULL);
    trap(SA_ONSTACK);
    sigaltstack(&none, NULL);
    munmap(memory, size);
    assert_int_equal(end, STACK_END_ROOT);
    assert_int_equal(pcs[3], (uintptr_t)trap_instruction);
}

static void on_null_call(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    capture();
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] =
        *(greg_t *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RSP] += 8;
}

static void test_a_jump_to_null_ends_the_walk(void **state)
{
    struct sigaction action = {.sa_sigaction = on_null_call, .sa_flags = SA_SIGINFO};
    struct sigaction before;
    void (*volatile nowhere)(void) = NULL;
    (void)state;
    sigaction(SIGSEGV, &action, &before);
    nowhere();
    sigaction(SIGSEGV, &before, NULL);
    assert_int_equal(end, STACK_END_UNKNOWN);
    assert_int_equal(count, 3);
}

static uintptr_t object_pc;
static void note_object(uintptr_t pc, const struct dl_find_object *object)
{
    assert_non_null(object);
    object_pc = pc;
}

static void test_an_object_is_announced_when_its_pc_is_new(void **state)
{
    (void)state;
    stack_on_object = note_object;
    stack_forget(0, UINTPTR_MAX);
    object_pc = 0;
    for (volatile int i = 0; i < 2; i++) { /* volatile: one call site, not two */
        capture();
        if (i == 0)
            assert_int_equal(object_pc, pcs[count - 1]);
        else
            assert_int_equal(object_pc, 0);
        object_pc = 0;
    }
    stack_on_object = NULL;
}

static void *forget_all_the_time(void *stop)
{
    while (__atomic_load_n((bool *)stop, __ATOMIC_RELAXED) == false)
        stack_forget(0, UINTPTR_MAX);
    return NULL;
}

static void test_forgetting_beside_a_walk_changes_no_result(void **state)
{
    static bool stop;
    uint64_t expected[STACK_MAX_FRAMES];
    size_t expected_count = 0;
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, forget_all_the_time, &stop), 0);
    for (volatile int i = 0; i < 20000; i++) { /* volatile: one call site, not two */
        capture();
        if (i == 0) {
            expected_count = count;
            memcpy(expected, pcs, sizeof(expected));
        }
        assert_int_equal(count, expected_count);
        assert_memory_equal(pcs, expected, count * sizeof(pcs[0]));
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
}

/* From now on the kernel answers madvise with this error, as old ones do for what they do not know
 * and sandboxes for what they forbid. */
static void refuse_madvise(unsigned error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(9);
}

/* In a child: 0 when a new thread's stack is walked whole and a coroutine's ends unharmed. */
static int walks_without_probes(void)
{
    pthread_t thread;
    void *good = NULL;
    char *stack;
    if (pthread_create(&thread, NULL, capture_in_thread, NULL) != 0)
        return 2;
    pthread_join(thread, &good);
    if (good == NULL)
        return 3;
    recursion(3);
    if (end != STACK_END_ROOT)
        return 4;
    run_coroutine(in_coroutine, &stack, 4 * PAGE);
    return count >= 2 ? 0 : 5;
}

static void test_where_the_kernel_cannot_be_asked_a_threads_stack_is_still_walked(void **state)
{
    static const struct {
        unsigned error;
        bool before_start;
    } rows[] = {{EINVAL, true}, {EPERM, false}, {ENOSYS, false}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            refuse_madvise(rows[i].error);
            if (rows[i].before_start)
                stack_start();
            _exit(walks_without_probes());
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start_leaves_no_descriptor_open),
        cmocka_unit_test(test_leaf_is_the_caller_and_root_the_entry_point),
        cmocka_unit_test(test_a_deep_stack_is_cut_at_the_capacity),
        cmocka_unit_test(test_capacity_that_just_suffices_reaches_the_root),
        cmocka_unit_test(test_errno_is_kept),
        cmocka_unit_test(test_libunwind_takes_over_where_rules_do_not_suffice),
        cmocka_unit_test(test_the_fallback_allocates_nothing_and_opens_nothing),
        cmocka_unit_test(test_a_child_forked_in_the_middle_of_a_fallback_still_captures),
        cmocka_unit_test(test_threads_end_at_their_root),
        cmocka_unit_test(test_a_thread_may_have_a_stack_of_the_programs),
        cmocka_unit_test(test_a_coroutine_between_guard_pages_is_walked_to_its_root),
        cmocka_unit_test(test_a_thread_may_run_coroutines),
        cmocka_unit_test(test_a_capture_of_new_pcs_uses_less_than_1536_bytes_of_stack),
        cmocka_unit_test(test_code_without_tables_ends_the_walk),
        cmocka_unit_test(test_garbage_in_rbp_ends_the_walk_unharmed),
        cmocka_unit_test(test_the_interrupted_frame_has_its_exact_pc),
        cmocka_unit_test(test_a_handler_on_another_stack_is_walked_into_the_thread),
        cmocka_unit_test(test_a_jump_to_null_ends_the_walk),
        cmocka_unit_test(test_an_object_is_announced_when_its_pc_is_new),
        cmocka_unit_test(test_where_the_kernel_cannot_be_asked_a_threads_stack_is_still_walked),
        cmocka_unit_test(test_forgetting_beside_a_walk_changes_no_result),
    };
    return cmocka_run_group_tests_name("stack", tests, start, NULL);
}
