/* operator_new.c: finds libstdc++'s operators new and delete behind ours.
 *
 * Not hook-safe: dlsym and dlopen. */
#include "runtime/operator_new.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/interpose_table.h"

/* Replaced: somebody before us in the search order defines it, which can only be the program or a
 * library preloaded in front of us. (The address of our own, as the linker binds it, would be
 * theirs too: so the object that holds it is compared.) */
static bool is_replaced(const char *name)
{
    struct dl_find_object first, ours;
    void *found = dlsym(RTLD_DEFAULT, name);
    return found != NULL && _dl_find_object(found, &first) == 0 &&
           _dl_find_object((void *)(uintptr_t)is_replaced, &ours) == 0 &&
           first.dlfo_link_map != ours.dlfo_link_map;
}

void operator_new_start(void)
{
    /* Without libstdc++ behind us nobody calls these yet: spare 40 look-ups at start-up. */
    if (dlsym(RTLD_NEXT, "_Znwm") == NULL)
        return;
    bool complete = true;
#define FIND(name, reason)                                                                         \
    operators.name = (__typeof__(operators.name))dlsym(RTLD_NEXT, #name);                          \
    operators.replaced |= is_replaced(#name);                                                      \
    complete &= operators.name != NULL;
    INTERPOSE_OPERATORS(FIND)
#undef FIND
    /* An old libstdc++ that lacks a form cannot be stood aside for. */
    operators.replaced &= complete;
}

void *operator_of_libstdcxx(const char *name)
{
    void *libstdcxx = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    void *found = libstdcxx == NULL ? NULL : dlsym(libstdcxx, name);
    if (found == NULL)
        abort();
    return found;
}
