/* stack_random.c: thousands of random stacks, each interned with the memory of the last one in use
 * and compared with a walk that remembers nothing, and now and then with libunwind.
 *
 * Compiled by hook_stack.bats with several compilers and flags, and linked with the runtime's
 * objects. A tree of calls is walked at random: functions with frames of all kinds return and call
 * again, so that the stack changes at any depth; they leave by longjmp, go on in signal handlers
 * (on the thread's stack and on another), in coroutines that are switched to and fro, and in
 * callbacks of libc. Several threads do so, one after the other, so that stacks come to the same
 * addresses. Two kinds of signals walk in the middle of everything, of other walks too: those of a
 * timer, and those of single steps, which depend on the seed alone. Arguments: seed and number of
 * stacks. Prints "N stacks, N differ, N met, N at signals, N steps"; met are the walks that ended
 * at something remembered. Status 0 when none differs. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/hook_stack_memory.h"
#include "tests/runtime/stack_oracle.h"
#include "tests/runtime/store_fixture.h"

#include "runtime/hook_libunwind.h" /* after UNW_LOCAL_ONLY */

enum { DEPTH_MAX = 60, COROUTINES = 4, COROUTINE_BYTES = 256 << 10, THREADS = 6 };

/* What goes with a stack: the thread's own or a coroutine's. */
struct strand {
    ucontext_t context;
    int depth_left;
    int leaving;            /* calls that are to return at once */
    jmp_buf *target;        /* where a longjmp may go */
    struct strand *resumer; /* NULL: not running */
};

static _Thread_local uint64_t random_state;
static _Thread_local struct strand own_strand, coroutines[COROUTINES];
static _Thread_local struct strand *strand;
static long stacks_left;
static unsigned long stacks, differing, met, at_signals, at_steps;

/* Only the thread that wanders has what the handlers use to itself. */
static _Thread_local volatile sig_atomic_t wandering;
static volatile sig_atomic_t steps_left;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

/* --- single steps ----------------------------------------------------------------------------- */

enum { TRAP_FLAG = 0x100 };

/* flags = (flags & mask) | set */
void change_flags(uint64_t mask, uint64_t set);
__asm__(".text\n.type change_flags, @function\n"
        "change_flags:\n .cfi_startproc\n"
        " pushfq\n .cfi_def_cfa_offset 16\n"
        " and %rdi, (%rsp)\n or %rsi, (%rsp)\n"
        " popfq\n .cfi_def_cfa_offset 8\n ret\n"
        " .cfi_endproc\n.size change_flags, . - change_flags\n");

/* From here on each instruction but a handler's raises SIGTRAP. */
static void begin_steps(int number)
{
    steps_left = number;
    change_flags(~(uint64_t)0, TRAP_FLAG);
}

/* Before signals are blocked: the kernel ends a process whose trap cannot be delivered. */
static void end_steps(void)
{
    change_flags(~(uint64_t)TRAP_FLAG, 0);
}

/* --- the comparison --------------------------------------------------------------------------- */

/* Not inlined, and all of it in one frame: what differs by call site are the frames up to this
 * function's. */
__attribute__((noinline)) static void compare(void)
{
    static struct oracle_stack plain, theirs, remembered;
    struct stack_memory *memory;
    bool same;
    stacks++;
    stacks_left--;
    if (draw(400) == 0) /* once: tens of microseconds each */
        begin_steps(1 + (int)draw(1000));
    oracle_remembered(&remembered);
    memory = stack_memory_take();
    met += memory->met;
    stack_memory_give(memory);
    plain.count = stack_capture(plain.pcs, STACK_MAX_FRAMES, &plain.end);
    same = oracle_same("without memory", &remembered, 2, &plain, 1);
    /* Where a coroutine begins, libunwind sees a call. */
    if (strand == &own_strand && draw(16) == 0) {
        end_steps();
        same = oracle_agrees(&plain, &theirs) && same;
    }
    differing += !same;
    if (draw(8) == 0) { /* once: a walk by libunwind may take longer than any interval */
        const struct itimerval soon = {{0, 0}, {0, 1 + (int)draw(200)}};
        setitimer(ITIMER_REAL, &soon, NULL);
    }
    __asm__ volatile("");
}

/* One handler at a time, and in one thread: the other's signal is blocked meanwhile. */
__attribute__((noinline)) static void compare_in_handler(const char *what)
{
    static struct oracle_stack plain, remembered;
    bool same = wandering;
    oracle_remembered(&remembered);
    plain.count = stack_capture(plain.pcs, STACK_MAX_FRAMES, &plain.end);
    same = oracle_same(what, &remembered, 2, &plain, 1) && same;
    if (!wandering)
        fprintf(stderr, "%s: in a thread that does not wander\n", what);
    differing += !same;
    __asm__ volatile("");
}

static void on_timer(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    compare_in_handler("at a signal");
    at_signals++;
}

static void on_step(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    (void)number;
    (void)info;
    compare_in_handler("at a step");
    at_steps++;
    /* libunwind_walk blocks signals. */
    if (--steps_left <= 0 || registers[REG_RIP] == (greg_t)(uintptr_t)libunwind_walk)
        registers[REG_EFL] &= ~TRAP_FLAG;
}

/* --- frames of all kinds ---------------------------------------------------------------------- */

__attribute__((noinline)) static void further(void);

__attribute__((noinline)) static void small_frame(void)
{
    further();
    __asm__ volatile("");
}

/* Two call sites, and variables in callee-saved registers. */
__attribute__((noinline)) static long loop(long rounds)
{
    long sum = 0;
    for (long i = 0; i < rounds; i++) {
        if (i % 2 != 0)
            further();
        else
            small_frame();
        sum += i * rounds;
    }
    return sum;
}

__attribute__((noinline)) static void variable_frame(size_t size)
{
    char *block = __builtin_alloca(size);
    memset(block, 1, size < 64 ? size : 64);
    further();
    __asm__ volatile("" : : "r"(block) : "memory");
    further();
    __asm__ volatile("" : : "r"(block) : "memory");
}

__attribute__((noinline)) static void realigned_frame(void)
{
    alignas(64) char block[96];
    memset(block, 2, sizeof(block));
    __asm__ volatile("" : : "r"(block) : "memory");
    further();
    __asm__ volatile("" : : "r"(block) : "memory");
}

__attribute__((noinline)) static void realigned_variable_frame(size_t size)
{
    alignas(128) char block[200];
    char *more = __builtin_alloca(size);
    memset(block, 2, sizeof(block));
    __asm__ volatile("" : : "r"(block), "r"(more) : "memory");
    further();
    __asm__ volatile("" : : "r"(block), "r"(more) : "memory");
    small_frame();
    __asm__ volatile("" : : "r"(block), "r"(more) : "memory");
}

__attribute__((noinline)) static long many_registers(long a, long b, long c, long d)
{
    further();
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d) : : "memory");
    further();
    return a * b + c * d;
}

/* A frame counted from rsp with a value of its own in rbp, which callees save as they find it. */
void value_in_rbp(uint64_t value, void (*function)(void));
__asm__(".text\n.type value_in_rbp, @function\n"
        "value_in_rbp:\n .cfi_startproc\n"
        " push %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset %rbp, -16\n"
        " mov %rdi, %rbp\n call *%rsi\n pop %rbp\n .cfi_def_cfa_offset 8\n ret\n"
        " .cfi_endproc\n.size value_in_rbp, . - value_in_rbp\n");

/* A frame that no rule can say: libunwind does the whole walk. */
void frame_by_rbx(void (*function)(void));
__asm__(".text\n.type frame_by_rbx, @function\n"
        "frame_by_rbx:\n .cfi_startproc\n"
        " push %rbx\n .cfi_def_cfa_offset 16\n .cfi_offset %rbx, -16\n"
        " mov %rsp, %rbx\n .cfi_def_cfa_register %rbx\n"
        " and $-64, %rsp\n call *%rdi\n"
        " mov %rbx, %rsp\n .cfi_def_cfa_register %rsp\n pop %rbx\n .cfi_def_cfa_offset 8\n ret\n"
        " .cfi_endproc\n.size frame_by_rbx, . - frame_by_rbx\n");

/* A frame that reserves `padding` bytes and calls, from another place when there are any, one that
 * reserves as many less: then function's caller and all words further out are where they were, the
 * return address that the first call has left behind too, and only the rbp that is saved tells. */
void padded_frame(size_t padding, void (*function)(void));
__asm__(".text\n.type padded_frame, @function\n"
        "padded_frame:\n .cfi_startproc\n"
        " push %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset %rbp, -16\n"
        " mov %rsp, %rbp\n .cfi_def_cfa_register %rbp\n"
        " mov $64, %eax\n sub %rdi, %rax\n sub %rdi, %rsp\n"
        " test %rdi, %rdi\n jne 1f\n call 3f\n jmp 2f\n"
        "1: call 3f\n"
        "2: leave\n .cfi_def_cfa %rsp, 8\n ret\n"
        " .cfi_endproc\n.size padded_frame, . - padded_frame\n"
        ".type padding_frame, @function\n"
        "padding_frame:\n3: .cfi_startproc\n"
        " push %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset %rbp, -16\n"
        " mov %rsp, %rbp\n .cfi_def_cfa_register %rbp\n"
        " sub %rax, %rsp\n mov $1, %edi\n call value_in_rbp\n"
        " leave\n .cfi_def_cfa %rsp, 8\n ret\n"
        " .cfi_endproc\n.size padding_frame, . - padding_frame\n");

__attribute__((noinline)) static void stale_return_address(void)
{
    size_t padding = 0;
    do { /* not unrolled: one call site */
        padded_frame(padding, compare);
        padding += 64;
        __asm__ volatile("" : "+r"(padding));
    } while (padding <= 64);
}

static int by_chance(const void *left, const void *right)
{
    (void)right;
    further();
    return *(const int *)left % 2;
}

__attribute__((noinline)) static void in_callback(void)
{
    int numbers[] = {1, 2};
    qsort(numbers, 2, sizeof(numbers[0]), by_chance);
    __asm__ volatile("" : : "r"(numbers) : "memory");
}

__attribute__((noinline)) static void until_longjmp(void)
{
    jmp_buf here;
    jmp_buf *volatile target_before = strand->target;
    volatile int depth_before = strand->depth_left;
    if (_setjmp(here) == 0) {
        strand->target = &here;
        further();
    } else {
        strand->depth_left = depth_before;
    }
    strand->target = target_before;
    further();
    __asm__ volatile("");
}

static void on_signal(int number)
{
    (void)number;
    further();
    __asm__ volatile("");
}

/* From another stack nothing jumps back. */
static void on_signal_elsewhere(int number)
{
    jmp_buf *target_before = strand->target;
    (void)number;
    strand->target = NULL;
    further();
    strand->target = target_before;
    __asm__ volatile("");
}

/* raise, which blocks signals in some versions of glibc. */
static void send_to_self(int number)
{
    syscall(SYS_tgkill, getpid(), gettid(), number);
}

static void switch_to(struct strand *other)
{
    struct strand *before = strand;
    other->resumer = before;
    strand = other;
    swapcontext(&before->context, &other->context);
}

static void switch_back(void)
{
    struct strand *before = strand, *resumer = before->resumer;
    before->resumer = NULL;
    strand = resumer;
    swapcontext(&before->context, &resumer->context);
}

static void coroutine(void)
{
    for (;;) {
        strand->depth_left = DEPTH_MAX / 4;
        strand->leaving = 0;
        further();
        switch_back();
    }
}

/* --- the walk through the tree of calls ------------------------------------------------------- */

static void call_something(void)
{
    struct strand *other = &coroutines[draw(COROUTINES)];
    switch (draw(29)) {
    case 0:
        if (draw(6) == 0)
            send_to_self(SIGUSR1);
        break;
    case 1:
        if (draw(6) == 0 && strand == &own_strand)
            send_to_self(SIGUSR2);
        break;
    case 2:
        if (other->resumer == NULL && other != strand)
            switch_to(other);
        break;
    case 3:
        if (strand->resumer != NULL)
            switch_back();
        break;
    case 4:
        if (strand->depth_left < DEPTH_MAX / 10)
            frame_by_rbx(further);
        break;
    case 5:
    case 6:
        in_callback();
        break;
    case 7:
    case 8:
        until_longjmp();
        break;
    case 9:
    case 10:
        variable_frame(1 + draw(200));
        break;
    case 11:
        variable_frame(1 + draw(6000));
        break;
    case 12:
        realigned_frame();
        break;
    case 13:
    case 14:
        realigned_variable_frame(1 + draw(100));
        break;
    case 15:
    case 16:
    case 17:
        value_in_rbp(draw(3), small_frame);
        break;
    case 18:
    case 19:
        many_registers(1, 2, 3, 4);
        break;
    case 20:
    case 21:
        loop(1 + draw(4));
        break;
    case 22:
        stale_return_address();
        break;
    default:
        small_frame();
    }
}

__attribute__((noinline)) static void further(void)
{
    if (stacks_left <= 0)
        return;
    if (strand->leaving > 0) {
        strand->leaving--;
        return;
    }
    if (draw(4) == 0)
        compare();
    if (strand->depth_left == 0)
        return;
    strand->depth_left--;
    for (uint32_t calls = 1 + draw(3); calls > 0 && strand->leaving == 0; calls--)
        call_something();
    if (strand->leaving > 0)
        strand->leaving--;
    strand->depth_left++;
    if (draw(20) == 0)
        strand->leaving = (int)draw(DEPTH_MAX / 2);
    else if (draw(200) == 0 && strand->target != NULL)
        _longjmp(*strand->target, 1);
}

/* A timer's signal goes to any thread that does not block it, to the first one by preference. */
static void let_timer(int how)
{
    sigset_t timer;
    sigemptyset(&timer);
    sigaddset(&timer, SIGALRM);
    pthread_sigmask(how, &timer, NULL);
}

static void *wander(void *seed)
{
    static char alternate[64 << 10];
    stack_t other = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
    char *memory = malloc(COROUTINES * COROUTINE_BYTES);
    assert_non_null(memory);
    sigaltstack(&other, NULL);
    random_state = (uint64_t)(uintptr_t)seed;
    strand = &own_strand;
    for (int i = 0; i < COROUTINES; i++) {
        getcontext(&coroutines[i].context);
        coroutines[i].context.uc_stack.ss_sp = memory + i * COROUTINE_BYTES;
        coroutines[i].context.uc_stack.ss_size = COROUTINE_BYTES;
        makecontext(&coroutines[i].context, coroutine, 0);
    }
    wandering = 1;
    let_timer(SIG_UNBLOCK);
    while (stacks_left > 0) {
        own_strand.depth_left = DEPTH_MAX;
        own_strand.leaving = 0;
        further();
    }
    end_steps();
    let_timer(SIG_BLOCK);
    wandering = 0;
    free(memory);
    return NULL;
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(number, &action, NULL);
}

static void handle_anywhere(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_RESTART | SA_SIGINFO};
    sigaddset(&action.sa_mask, SIGALRM);
    sigaddset(&action.sa_mask, SIGTRAP);
    sigaction(number, &action, NULL);
}

int main(int argc, char **argv)
{
    const struct itimerval never = {{0, 0}, {0, 0}};
    uintptr_t seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    long wanted = argc > 2 ? strtol(argv[2], NULL, 10) : 5000;
    stack_start();
    store_fixture(1, STORE_DEFAULT_SLOT_BYTES, 1);
    handle(SIGUSR1, on_signal, SA_NODEFER);
    handle(SIGUSR2, on_signal_elsewhere, SA_NODEFER | SA_ONSTACK);
    handle_anywhere(SIGALRM, on_timer);
    handle_anywhere(SIGTRAP, on_step);
    let_timer(SIG_BLOCK);
    for (uintptr_t i = 0; i < THREADS; i++) {
        pthread_t thread;
        stacks_left = wanted / THREADS + 1;
        if (i == 0)
            wander((void *)seed);
        else if (pthread_create(&thread, NULL, wander, (void *)(seed + i)) == 0)
            pthread_join(thread, NULL);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%lu stacks, %lu differ, %lu met, %lu at signals, %lu steps\n", stacks, differing, met,
           at_signals, at_steps);
    return differing != 0;
}
