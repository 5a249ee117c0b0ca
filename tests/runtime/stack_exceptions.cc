/* stack_exceptions.cc: stacks of C++, walked in constructors, destructors, catch blocks and
 * comparators, and compared with libunwind's. For hook_stack.bats; prints how many differ. */
#define _Static_assert static_assert
extern "C" {
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/runtime/stack_oracle.h"
#include "tests/runtime/store_fixture.h"
}

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static thread_local oracle_stack ours, theirs;
static int stacks, differing;

static __attribute__((noinline)) void compare()
{
    stacks++;
    if (!oracle_agrees(&ours, &theirs) || ours.end != theirs.end || ours.end != STACK_END_ROOT)
        differing++;
}

struct watched {
    std::string text;
    explicit watched(int depth) : text(100, static_cast<char>('a' + depth % 26))
    {
        compare();
    }
    ~watched()
    {
        compare(); /* also while an exception passes */
    }
};

static int thrower(int depth)
{
    watched here(depth);
    if (depth == 0)
        throw std::runtime_error("thrown");
    alignas(64) char block[64] = {static_cast<char>(depth)};
    __asm__ volatile("" : : "r"(block) : "memory");
    return thrower(depth - 1) + block[0];
}

static void rethrower(int depth)
{
    try {
        thrower(depth);
    } catch (const std::exception &) {
        compare();
        throw;
    }
}

int main()
{
    stack_start();
    store_fixture(1, STORE_DEFAULT_SLOT_BYTES, 1);
    for (int depth = 0; depth < 6; depth++) {
        try {
            rethrower(depth);
        } catch (const std::exception &) {
            compare();
        }
    }
    std::vector<int> numbers{5, 3, 9, 1};
    std::sort(numbers.begin(), numbers.end(), [](int a, int b) {
        compare();
        return a < b;
    });
    std::function<void(int)> again = [&](int depth) {
        std::unique_ptr<watched> held(new watched(depth));
        if (depth > 0)
            again(depth - 1);
    };
    again(5);
    std::thread([] {
        try {
            thrower(3);
        } catch (...) {
            compare();
        }
    }).join();
    printf("%d stacks, %d differ\n", stacks, differing);
    return differing != 0 || stacks < 60;
}
