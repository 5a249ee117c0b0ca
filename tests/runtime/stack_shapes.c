/* stack_shapes.c: stacks of every shape, each walked at every instruction that builds it.
 *
 * Compiled by hook_stack.bats with several compilers and flags, and linked with the runtime's
 * objects. Each shape runs once with the processor's trap flag set, so that a SIGTRAP handler
 * compares stack_capture, with and without memory, with libunwind at each pc it has not seen
 * before: in prologues, epilogues, PLT entries, the lazy binder, libc; then once more as it is.
 * Prints "N stacks, N differ"; status 0 when none differs. With an argument, only the shape of that
 * name is run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <search.h>
#include <signal.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/stack_oracle.h"
#include "tests/runtime/store_fixture.h"

enum { SEEN_SLOTS = 1 << 18 };

static uint64_t seen[SEEN_SLOTS];
static struct oracle_stack ours, theirs;
static unsigned long stacks, differing;
static const char *shape_name;
static bool stepping;

static bool first_time(uint64_t pc)
{
    size_t slot = (pc * UINT64_C(0x9e3779b97f4a7c15)) >> 46;
    while (seen[slot] != 0 && seen[slot] != pc)
        slot = (slot + 1) % SEEN_SLOTS;
    if (seen[slot] == pc)
        return false;
    seen[slot] = pc;
    return true;
}

static void compare(uint64_t pc)
{
    stacks++;
    if (oracle_agrees(&ours, &theirs) && ours.end == theirs.end)
        return;
    differing++;
    fprintf(stderr, "  in shape %s at %#lx, ends %d and %d\n", shape_name, (long)pc, (int)ours.end,
            (int)theirs.end);
}

static void on_step(int number, siginfo_t *info, void *context)
{
    uint64_t pc = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    (void)number;
    (void)info;
    if (first_time(pc))
        compare(pc);
}

/* Not while stepping: libunwind blocks signals, and a trap that is blocked kills. */
__attribute__((noinline)) void visit(void)
{
    if (!stepping)
        compare((uint64_t)__builtin_return_address(0));
}

__attribute__((noinline)) static int recursion(int depth)
{
    if (depth == 0) {
        visit();
        return 1;
    }
    return recursion(depth - 1) + depth;
}

__attribute__((noinline)) static void variable_frame(size_t size)
{
    char *block = __builtin_alloca(size);
    memset(block, 1, size);
    recursion(2);
    __asm__ volatile("" : : "r"(block) : "memory");
}

__attribute__((noinline)) static void realigned_frame(int depth)
{
    alignas(64) char block[100];
    memset(block, depth, sizeof(block));
    __asm__ volatile("" : : "r"(block) : "memory");
    if (depth > 0)
        realigned_frame(depth - 1);
    else
        visit();
    __asm__ volatile("" : : "r"(block) : "memory");
}

__attribute__((noinline)) static void realigned_variable_frame(size_t size)
{
    alignas(128) char block[200];
    char *more = __builtin_alloca(size);
    memset(block, 2, sizeof(block));
    memset(more, 3, size);
    __asm__ volatile("" : : "r"(block), "r"(more) : "memory");
    realigned_frame(2);
    __asm__ volatile("" : : "r"(block), "r"(more) : "memory");
}

__attribute__((noinline, force_align_arg_pointer)) static int forced_alignment(int depth)
{
    return recursion(depth) + 1;
}

__attribute__((noinline)) static long many_arguments(long a, long b, long c, long d, long e, long f,
                                                     long g, long h, long i)
{
    visit();
    return a + b + c + d + e + f + g + h + i;
}

__attribute__((noinline)) static void pushed_arguments(long n)
{
    if (many_arguments(n, 2, 3, 4, 5, 6, n, 8, n * 2) > 0)
        visit();
}

/* The part that is never likely lies apart, as a function.cold of its own. */
__attribute__((noinline, cold)) static void seldom(int number)
{
    visit();
    __asm__ volatile("" : : "r"(number));
}

__attribute__((noinline)) static int mostly(int number)
{
    int block[8] = {number};
    __asm__ volatile("" : : "r"(block) : "memory");
    if (number > 2) {
        seldom(block[0]);
        __asm__ volatile("" : : "r"(block) : "memory");
        seldom(block[1]);
    }
    return block[number % 8];
}

static void cold(void)
{
    for (int i = 0; i < 6; i++)
        mostly(i);
}

static int by_value(const void *left, const void *right)
{
    int a = *(const int *)left;
    int b = *(const int *)right;
    if (a == 7)
        visit();
    return (a > b) - (a < b);
}

static void callbacks(void)
{
    int numbers[] = {5, 7, 3, 9, 1, 8, 2};
    int wanted = 7;
    qsort(numbers, sizeof(numbers) / sizeof(numbers[0]), sizeof(numbers[0]), by_value);
    if (bsearch(&wanted, numbers, 7, sizeof(int), by_value) == NULL)
        abort();
}

static void lazily_bound(void)
{
    char text[32];
    strfry(strcpy(text, "bound at the first call"));
    if (lfind(text, text, &(size_t){1}, 1, by_value) == NULL)
        visit();
}

static void on_user_signal(int number)
{
    (void)number;
    recursion(1);
}

static void in_handler(void)
{
    struct sigaction action = {.sa_handler = on_user_signal};
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}

static void in_handler_on_other_stack(void)
{
    static char memory[64 << 10];
    stack_t other = {.ss_sp = memory, .ss_size = sizeof(memory)};
    stack_t none = {.ss_flags = SS_DISABLE};
    struct sigaction action = {.sa_handler = on_user_signal, .sa_flags = SA_ONSTACK};
    sigaltstack(&other, NULL);
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
    sigaltstack(&none, NULL);
}

static void plain(void)
{
    recursion(12);
}

static void variable(void)
{
    variable_frame(50);
    variable_frame(5000);
}

static void realigned(void)
{
    realigned_frame(3);
    realigned_variable_frame(300);
}

static void forced(void)
{
    forced_alignment(2);
}

static void pushed(void)
{
    pushed_arguments(4);
}

static const struct shape {
    const char *name;
    void (*run)(void);
} shapes[] = {
    {"plain", plain},           {"variable", variable},
    {"realigned", realigned},   {"forced", forced},
    {"pushed", pushed},         {"cold", cold},
    {"callbacks", callbacks},   {"lazily_bound", lazily_bound},
    {"in_handler", in_handler}, {"in_handler_on_other_stack", in_handler_on_other_stack},
};

/* In functions of their own, whose tables are right at each of these instructions too. */
void set_trap_flag(void);
void clear_trap_flag(void);
#define FLAG_FUNCTION(name, change)                                                                \
    __asm__(".text\n.type " name ", @function\n" name ":\n .cfi_startproc\n"                       \
            " pushf\n .cfi_adjust_cfa_offset 8\n " change ", (%rsp)\n"                             \
            " popf\n .cfi_adjust_cfa_offset -8\n ret\n"                                            \
            " .cfi_endproc\n.size " name ", . - " name "\n")
FLAG_FUNCTION("set_trap_flag", "orl $0x100");
FLAG_FUNCTION("clear_trap_flag", "andl $~0x100");

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    bool fallback = stack_start();
    store_fixture(1, STORE_DEFAULT_SLOT_BYTES, 1);
    sigaction(SIGTRAP, &action, NULL);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        shape_name = shapes[i].name;
        if (argc > 1 && strcmp(argv[1], shape_name) != 0)
            continue;
        stepping = true;
        set_trap_flag();
        shapes[i].run();
        clear_trap_flag();
        stepping = false;
        shapes[i].run();
    }
    printf("%lu stacks, %lu differ%s\n", stacks, differing, fallback ? "" : ", no libunwind");
    return differing != 0;
}
