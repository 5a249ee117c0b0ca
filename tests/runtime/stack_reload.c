/* stack_reload.c: FIRST SECOND forget|keep: what becomes of cached rules when an object goes and
 * another one comes to its address.
 *
 * For hook_stack.bats. Captures in a callback of each of the two plugins, the first unloaded in
 * between; "forget" tells the walker so. Status 0: both stacks are whole; 1: the second is not;
 * 2: nothing could be tried. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/hook_stack.h"

static uint64_t pcs[STACK_MAX_FRAMES];
static size_t count;
static enum stack_end end;

static void capture(void)
{
    count = stack_capture(pcs, STACK_MAX_FRAMES, &end);
    __asm__ volatile("");
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
    uint64_t expected[STACK_MAX_FRAMES];
    size_t expected_count = 0;
    if (argc != 4)
        return 2;
    stack_start();
    for (volatile int i = 1; i <= 2; i++) { /* volatile: one call site, not two */
        walk_through(argv[i], i == 1 ? &first : &second);
        if (end != STACK_END_ROOT)
            return i == 1 ? 2 : 1;
        if (i == 2)
            break;
        expected_count = count;
        memcpy(expected, pcs, sizeof(pcs));
        if (strcmp(argv[3], "forget") == 0)
            stack_forget((uintptr_t)first.dlfo_map_start, (uintptr_t)first.dlfo_map_end);
    }
    if (first.dlfo_map_start != second.dlfo_map_start)
        return 2;
    return count != expected_count || memcmp(pcs, expected, count * sizeof(pcs[0])) != 0;
}
