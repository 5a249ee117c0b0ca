/* dlclose.c: after a dlclose the module table is looked through for what is gone.
 *
 * Not hook-safe, as dlclose is not. dlopen is not intercepted: its meaning depends on who calls it,
 * and new modules are found without it. */
#include "runtime/dlclose.h"

#include <dlfcn.h>

#include "runtime/hook_event.h"
#include "runtime/hook_modules.h"
#include "runtime/hook_process.h"

static int (*next_dlclose)(void *);

void dlclose_start(void)
{
    next_dlclose = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
}

HOOK int dlclose(void *handle)
{
    if (next_dlclose == NULL)
        dlclose_start(); /* a .preinit function of the program */
    int result = next_dlclose(handle);
    if (process_records())
        modules_sweep();
    return result;
}
