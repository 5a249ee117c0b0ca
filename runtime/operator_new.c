/* operator_new.c: finds libstdc++'s operators new and delete behind ours.
 *
 * An allocator may bring operators of its own (jemalloc, tcmalloc) that stand before libstdc++'s
 * and end neither in malloc nor in free. Ours would leave objects to them that are not theirs, or
 * not see what they allocate: they are passed over.
 *
 * Not hook-safe: dlsym and dlopen. */
#include "runtime/operator_new.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/hook_next.h"
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

static struct link_map *object_of(const void *address)
{
    struct dl_find_object object;
    return address != NULL && _dl_find_object((void *)(uintptr_t)address, &object) == 0
               ? object.dlfo_link_map
               : NULL;
}

/* Where to look for libstdc++'s: behind us, as a rule, and otherwise in the first library behind
 * the allocator that has its own. NULL when there is none. What is opened here stays so: it was
 * loaded with the program, and goes with it. */
static void *operators_handle(void)
{
    const char *name = "_Znwm";
    struct link_map *object = object_of(dlsym(RTLD_NEXT, name));
    if (object == NULL || object != object_of((const void *)(uintptr_t)next.malloc))
        return object == NULL ? NULL : RTLD_NEXT;
    while ((object = object->l_next) != NULL) {
        void *handle = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
        if (handle != NULL && object_of(dlsym(handle, name)) == object)
            return handle;
    }
    return NULL;
}

void operator_new_start(void)
{
    /* Without libstdc++ behind us nobody calls these yet: spare 40 look-ups at start-up. */
    void *handle = operators_handle();
    if (handle == NULL)
        return;
    bool complete = true;
#define FIND(name, reason)                                                                         \
    operators.name = (__typeof__(operators.name))dlsym(handle, #name);                             \
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
