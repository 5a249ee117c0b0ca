/* stack_walk.c: what it costs to know an event's stack.
 *
 * Per depth: stack_capture, beside unw_backtrace on the same stack; and capture with interning
 * (caller_stack), when nothing of the stack is remembered, when the four innermost frames change
 * from one event to the next, and when nothing changes. Best of 15 rounds of 2,000 warm ones, ns
 * each. The recursion's frames are of three functions with different rules, so that no branch is
 * always the same. Linked with the runtime's objects: caller_stack's own frame counts as one more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/hook_stack_memory.h"
#include "tests/runtime/stack_oracle.h"
#include "tests/runtime/store_fixture.h"

enum { ROUNDS = 15, CAPTURES = 2000 };

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static uint64_t pcs[STACK_MAX_FRAMES];
static void *addresses[STACK_MAX_FRAMES];
static size_t frames;

static void capture(void)
{
    enum stack_end end;
    frames = stack_capture(pcs, STACK_MAX_FRAMES, &end);
    if (end != STACK_END_ROOT)
        abort();
}

static void with_libunwind(void)
{
    frames = (size_t)unw_backtrace(addresses, STACK_MAX_FRAMES);
}

static double best_ns(void (*once)(void))
{
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_ns();
        double each;
        for (int i = 0; i < CAPTURES; i++)
            once();
        each = (now_ns() - start) / CAPTURES;
        if (each < best)
            best = each;
    }
    return best;
}

static volatile uint32_t stack_id;

static void unchanged(void)
{
    stack_id = caller_stack();
}

static void not_remembered(void)
{
    stack_memory_forget();
    stack_id = caller_stack();
}

/* The frames that change: each calls from one place and from another in turn. */
static __attribute__((noinline)) void changing_1(unsigned way)
{
    if ((way & 1) != 0) {
        stack_id = caller_stack();
        __asm__ volatile("nop");
    } else {
        stack_id = caller_stack();
        __asm__ volatile("");
    }
}

#define CHANGING_FRAME(name, inner)                                                                \
    static __attribute__((noinline)) void name(unsigned way)                                       \
    {                                                                                              \
        if ((way & 1) != 0) {                                                                      \
            inner(way);                                                                            \
            __asm__ volatile("nop");                                                               \
        } else {                                                                                   \
            inner(way);                                                                            \
            __asm__ volatile("");                                                                  \
        }                                                                                          \
    }
CHANGING_FRAME(changing_2, changing_1)
CHANGING_FRAME(changing_3, changing_2)
CHANGING_FRAME(changing_4, changing_3)

static void four_changed(void)
{
    static unsigned way;
    changing_4(way++);
}

static void measure(void)
{
    double ours = best_ns(capture);
    size_t ours_frames = frames;
    double theirs = best_ns(with_libunwind);
    printf("%3zu frames: stack_capture %6.1f ns (%.2f a frame), unw_backtrace %6.1f ns (%zu)\n",
           ours_frames, ours, ours / (double)ours_frames, theirs, frames);
    double whole = best_ns(not_remembered);
    double changed = best_ns(four_changed);
    double same = best_ns(unchanged);
    printf("    captured and interned: %6.1f ns not remembered, %6.1f ns four frames changed (of "
           "%zu), %6.1f ns unchanged\n",
           whole, changed, ours_frames + 4, same);
}

static int plain(int depth);

__attribute__((noinline)) static int with_buffer(int depth)
{
    char buffer[200];
    memset(buffer, depth, sizeof(buffer));
    __asm__ volatile("" : : "r"(buffer) : "memory");
    return plain(depth) + buffer[3];
}

__attribute__((noinline)) static int with_frame_pointer(int depth)
{
    char *buffer = __builtin_alloca((size_t)depth + 16);
    memset(buffer, depth, (size_t)depth);
    __asm__ volatile("" : : "r"(buffer) : "memory");
    return plain(depth) + buffer[0];
}

__attribute__((noinline)) static int plain(int depth)
{
    if (depth == 0) {
        measure();
        return 0;
    }
    return (depth % 3 == 0   ? with_buffer(depth - 1)
            : depth % 3 == 1 ? with_frame_pointer(depth - 1)
                             : plain(depth - 1)) +
           depth;
}

int main(void)
{
    static const int depths[] = {15, 23, 60, 250};
    double start = now_ns();
    bool fallback = stack_start();
    store_fixture(1, STORE_DEFAULT_SLOT_BYTES, 1);
    printf("stack_start: %.2f ms%s\n", (now_ns() - start) / 1e6, fallback ? "" : ", no libunwind");
    for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
        plain(depths[i]);
    return 0;
}
