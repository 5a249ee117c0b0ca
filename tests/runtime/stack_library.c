/* stack_library.c: stack_capture in a library that leaves its own frames out.
 *
 * For hook_stack.bats, which compiles it twice: with -DLIBRARY as a shared object together with the
 * runtime's objects, and as the program that uses it. Prints the names of the functions from the
 * leaf to main, for a call and for a signal handler that is the library's own. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "runtime/hook_stack.h"

struct library_stack {
    uint64_t pcs[STACK_MAX_FRAMES];
    size_t count;
    enum stack_end end;
};

#define EXPORTED __attribute__((visibility("default"), noinline))
void library_start(void);
void library_capture(struct library_stack *stack);
void library_capture_at_signal(int number, struct library_stack *stack);
void library_call(void (*function)(void));

#ifdef LIBRARY

static struct library_stack *at_signal;

EXPORTED void library_start(void)
{
    stack_start();
}

static __attribute__((noinline)) void inner(struct library_stack *stack)
{
    stack->count = stack_capture(stack->pcs, STACK_MAX_FRAMES, &stack->end);
    __asm__ volatile("");
}

EXPORTED void library_capture(struct library_stack *stack)
{
    inner(stack);
    __asm__ volatile("");
}

static void on_signal(int number)
{
    (void)number;
    inner(at_signal);
    __asm__ volatile("");
}

EXPORTED void library_capture_at_signal(int number, struct library_stack *stack)
{
    struct sigaction action = {.sa_handler = on_signal};
    at_signal = stack;
    sigaction(number, &action, NULL);
}

/* A frame of the library's in the middle of the stack. */
EXPORTED void library_call(void (*function)(void))
{
    function();
    __asm__ volatile("");
}

#else

static struct library_stack stack;

EXPORTED void leaf(void)
{
    library_capture(&stack);
    __asm__ volatile("");
}

EXPORTED void interrupted(void)
{
    __asm__ volatile("int3");
}

static void print_stack(const char *title)
{
    printf("%s:", title);
    for (size_t i = 0; i < stack.count; i++) {
        Dl_info info = {0};
        const char *name = "?";
        if (dladdr((void *)(uintptr_t)stack.pcs[i], &info) != 0 && info.dli_sname != NULL)
            name = info.dli_sname;
        printf(" %s", name);
        if (strcmp(name, "main") == 0)
            break;
    }
    printf(", end %d\n", (int)stack.end);
}

EXPORTED int main(void)
{
    library_start();
    leaf();
    print_stack("called");
    library_call(leaf);
    print_stack("through the library");
    library_capture_at_signal(SIGTRAP, &stack);
    interrupted();
    print_stack("interrupted");
    return 0;
}

#endif
