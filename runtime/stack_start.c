/* stack_start.c: what stack capture must know before its first walk.
 *
 * Constructor time, main thread: the parts of it that may call libc freely. */
#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/resource.h>

#include "runtime/hook_libunwind.h"
#include "runtime/hook_stack.h"
#include "runtime/hook_stack_bounds.h"
#include "runtime/hook_stack_own.h"

uintptr_t stack_own_start;
uintptr_t stack_own_size;

/* A program that the runtime is linked into, as the unit tests do, has no name in its link map. */
static void learn_own_text(void)
{
    struct dl_find_object found;
    if (_dl_find_object((void *)(uintptr_t)learn_own_text, &found) != 0 ||
        found.dlfo_link_map->l_name[0] == 0)
        return;
    stack_own_start = (uintptr_t)found.dlfo_map_start;
    stack_own_size = (uintptr_t)found.dlfo_map_end - stack_own_start;
}

/* The kernel puts the program's name and 16 random bytes at the far end of the main stack. */
static uintptr_t main_stack_end(void)
{
    uintptr_t name = getauxval(AT_EXECFN);
    uintptr_t random = getauxval(AT_RANDOM);
    return name > random ? name : random;
}

/* What glibc gives a thread that asks for nothing: the soft limit, if there is one. More than 8 MiB
 * is not trusted blindly. */
static size_t usual_stack_bytes(void)
{
    const size_t most = 8 << 20;
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > most)
        return most;
    return limit.rlim_cur;
}

bool stack_start(void)
{
    learn_own_text();
    stack_bounds_start(main_stack_end(), usual_stack_bytes());
    return libunwind_load();
}
