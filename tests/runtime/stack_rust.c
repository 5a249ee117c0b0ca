/* stack_rust.c: the C half of stack_rust.rs: compares, and prints "N stacks, N differ". For
 * hook_stack.bats; status 0 when none differs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/runtime/stack_oracle.h"
#include "tests/runtime/store_fixture.h"

void rust_main(void);
void rust_compare(void);

static int stacks, differing;

void rust_compare(void)
{
    static struct oracle_stack ours, theirs;
    stacks++;
    if (!oracle_agrees(&ours, &theirs) || ours.end != STACK_END_ROOT)
        differing++;
}

int main(void)
{
    stack_start();
    store_fixture(1, STORE_DEFAULT_SLOT_BYTES, 1);
    rust_main();
    printf("%d stacks, %d differ\n", stacks, differing);
    return differing != 0 || stacks < 60;
}
