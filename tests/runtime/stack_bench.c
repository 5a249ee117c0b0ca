/* stack_bench.c: what one stack_capture costs, beside unw_backtrace on the same stack.
 *
 *     cc -O2 -g -I. tests/runtime/stack_bench.c BUILD/runtime/{hooks.a,...} -lunwind
 *
 * Per depth: best of 15 rounds of 2,000 warm captures, ns each. The recursion's frames are of
 * three functions with different rules, so that no branch is always the same. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/runtime/stack_oracle.h"

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

static void measure(void)
{
    double ours = best_ns(capture);
    size_t ours_frames = frames;
    double theirs = best_ns(with_libunwind);
    printf("%3zu frames: stack_capture %6.1f ns (%.2f a frame), unw_backtrace %6.1f ns (%zu)\n",
           ours_frames, ours, ours / (double)ours_frames, theirs, frames);
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
    static const int depths[] = {15, 60, 103, 250};
    double start = now_ns();
    bool fallback = stack_start();
    printf("stack_start: %.2f ms%s\n", (now_ns() - start) / 1e6, fallback ? "" : ", no libunwind");
    for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
        plain(depths[i]);
    return 0;
}
