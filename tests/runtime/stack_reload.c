/* stack_reload.c: FIRST SECOND forget|keep: what becomes of cached rules when an object goes and
 * another one comes to its address.
 *
 * For hook_stack.bats. Captures in a callback of each of the two plugins, the first unloaded in
 * between; "forget" tells the walker so. Status 0: both stacks are whole; 1: the second is not;
 * 2: nothing could be tried; 3: a remembered stack was not the walked one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/stack_oracle.h"
#include "tests/runtime/store_fixture.h"

static struct oracle_stack stack;
static bool remembered_right;

static void capture(void)
{
    static struct oracle_stack remembered;
    stack.count = stack_capture(stack.pcs, STACK_MAX_FRAMES, &stack.end);
    remembered_right = true;
    for (int i = 0; i < 2; i++) {
        oracle_remembered(&remembered);
        remembered_right =
            oracle_same("without memory", &remembered, 2, &stack, 1) && remembered_right;
    }
}

/* The walk through the plugin at path; it is unloaded when this returns. */
static void walk_through(const char *path, struct dl_find_object *object)
{
    void *plugin = dlopen(path, RTLD_NOW);
    void (*call_back)(void (*)(void));
    if (plugin == NULL)
        exit(2);
    *(void **)&call_back = dlsym(plugin, "call_back");
    call_back(capture);
    if (_dl_find_object(*(void **)&call_back, object) != 0 || dlclose(plugin) != 0)
        exit(2);
}

int main(int argc, char **argv)
{
    struct dl_find_object first, second;
    struct oracle_stack expected = {.count = 0};
    if (argc != 4)
        return 2;
    stack_start();
    store_fixture(1, STORE_DEFAULT_SLOT_BYTES, 1);
    for (volatile int i = 1; i <= 2; i++) { /* volatile: one call site, not two */
        walk_through(argv[i], i == 1 ? &first : &second);
        if (!remembered_right)
            return 3;
        if (stack.end != STACK_END_ROOT)
            return i == 1 ? 2 : 1;
        if (i == 2)
            break;
        expected = stack;
        if (strcmp(argv[3], "forget") == 0)
            stack_forget((uintptr_t)first.dlfo_map_start, (uintptr_t)first.dlfo_map_end);
    }
    if (first.dlfo_map_start != second.dlfo_map_start)
        return 2;
    return stack.count != expected.count ||
           memcmp(stack.pcs, expected.pcs, stack.count * sizeof(stack.pcs[0])) != 0;
}
