/* exact_heap_load.c: brings the private mimalloc into the target, unseen.
 *
 * Constructor time only: dlopen allocates and takes the loader's lock. The library is a copy under
 * a name of its own, or the loader would hand out the instance that the target may be using; and
 * RTLD_LOCAL, as it exports malloc and operator new. */
#include <dlfcn.h>
#include <unistd.h>

#include "runtime/hook_exact_heap.h"

static bool find_functions(void *library, struct exact_heap_calls *calls)
{
#define FUNCTION_ROW(name) {#name, (void **)(void *)&calls->name},
    const struct {
        const char *name;
        void **pointer;
    } rows[] = {EXACT_HEAP_FUNCTIONS(FUNCTION_ROW)};
#undef FUNCTION_ROW
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if ((*rows[i].pointer = dlsym(library, rows[i].name)) == NULL)
            return false;
    return calls->mi_version() / 100 == 2; /* the options have other numbers elsewhere */
}

static void say_nothing(const char *message, void *argument)
{
    (void)message;
    (void)argument;
}

static void ignore_error(int error, void *argument)
{
    (void)error;
    (void)argument;
}

/* The options are read from MIMALLOC_* variables at their first use: now, and with an empty
 * environment. The user means them for the target's own mimalloc, and some would print into the
 * target or take memory from elsewhere. */
static void set_options(const struct exact_heap_calls *calls)
{
    for (int option = 0; option < (int)_mi_option_last; option++)
        calls->mi_option_set((mi_option_t)option, calls->mi_option_get((mi_option_t)option));
    calls->mi_option_set(mi_option_limit_os_alloc, 1);
    calls->mi_register_output(say_nothing, NULL);
    calls->mi_register_error(ignore_error, NULL);
}

/* mimalloc calls its own functions through the PLT, so a mimalloc that the target has loaded would
 * answer for ours. RTLD_DEEPBIND prevents that, but AddressSanitizer ends a program that uses it:
 * only where there is need. */
static void *load(const char *path)
{
    int deep = dlsym(RTLD_DEFAULT, "mi_malloc") != NULL ? RTLD_DEEPBIND : 0;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL | deep);
}

bool exact_heap_load(const char *path, struct exact_heap_calls *calls)
{
    static char *no_variables[] = {NULL};
    char **variables = environ;
    environ = no_variables;
    void *library = load(path);
    bool ok = library != NULL && find_functions(library, calls);
    if (ok)
        set_options(calls);
    environ = variables;
    return ok;
}
