/* libc_begin.c: gives libc the program's arguments and environment.
 *
 * A library linked with -z initfirst starts before libc has run its own constructors. A dlopen
 * there runs them as a dependency's, with the arguments and environment that libc itself would
 * have to know by then: none. environ, program_invocation_name and the rest would stay empty for
 * the whole run, and every child would start without an environment. So they are run here, with
 * what the loader has handed to us; glibc's may run twice (csu/init-first.c stores its arguments;
 * libio/vtables.c compares pointers), and the second time is with the same values. */
#include "runtime/libc_begin.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

typedef void constructor(int, char **, char **);

void libc_begin(int argc, char **argv, char **envp)
{
    struct dl_find_object libc;
    if (environ != NULL || _dl_find_object((void *)(uintptr_t)abort, &libc) != 0)
        return;
    uintptr_t constructors = 0;
    size_t bytes = 0;
    for (const ElfW(Dyn) *row = libc.dlfo_link_map->l_ld; row->d_tag != DT_NULL; row++) {
        if (row->d_tag == DT_INIT_ARRAY)
            constructors = libc.dlfo_link_map->l_addr + row->d_un.d_ptr;
        else if (row->d_tag == DT_INIT_ARRAYSZ)
            bytes = row->d_un.d_val;
    }
    constructor *const *all = (constructor *const *)constructors;
    for (size_t i = 0; constructors != 0 && i < bytes / sizeof(*all); i++)
        all[i](argc, argv, envp);
}
