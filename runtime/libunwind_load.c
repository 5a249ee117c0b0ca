/* libunwind_load.c: brings libunwind into the target, unseen.
 *
 * Constructor time only: dlopen allocates and takes the loader's lock. RTLD_LOCAL, because the
 * library exports _Unwind_RaiseException and others that must not answer for libgcc's; the general
 * x86-64 library, because the one for local unwinding has no address spaces. An instance that the
 * target has loaded is not used: its state is the target's.
 * libunwind opens a pipe at its first use, for checks of local memory that never happen here. The
 * pipe gets the two lowest free descriptors; so they are known beforehand, and what is a new FIFO
 * at both of them afterwards is closed.
 * Source: libunwind 1.6 src/x86_64/Ginit.c (open_pipe). */
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/hook_libunwind.h"

static const char library_name[] = "libunwind-x86_64.so.8";

static bool find_functions(void *library, struct libunwind *found)
{
    const struct {
        const char *name;
        void *target;
    } rows[] = {
        {"_Ux86_64_init_remote", &found->init_remote},
        {"_Ux86_64_step", &found->step},
        {"_Ux86_64_get_reg", &found->get_reg},
        {"_Ux86_64_is_signal_frame", &found->is_signal_frame},
        {"_Ux86_64_dwarf_search_unwind_table", &found->search_unwind_table},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *function = dlsym(library, rows[i].name);
        if (function == NULL)
            return false;
        *(void **)rows[i].target = function;
    }
    return true;
}

/* The two descriptors that the next pipe will get; -1 where there is none left. */
static void predict_pipe(int pair[2])
{
    pair[0] = eventfd(0, EFD_CLOEXEC);
    pair[1] = eventfd(0, EFD_CLOEXEC);
    if (pair[1] >= 0)
        close(pair[1]);
    if (pair[0] >= 0)
        close(pair[0]);
}

static bool is_fifo(int descriptor)
{
    struct stat status;
    return descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode);
}

static void close_pipe(const int pair[2])
{
    if (!is_fifo(pair[0]) || !is_fifo(pair[1]))
        return;
    close(pair[0]);
    close(pair[1]);
}

/* The address space, and one walk by it, which leaves nothing for the first use in a hook. */
static bool set_up(void *library)
{
    unw_addr_space_t (*create)(unw_accessors_t *, int);
    int (*set_caching)(unw_addr_space_t, unw_caching_policy_t);
    *(void **)&create = dlsym(library, "_Ux86_64_create_addr_space");
    *(void **)&set_caching = dlsym(library, "_Ux86_64_set_caching_policy");
    if (create == NULL || set_caching == NULL || !find_functions(library, &libunwind))
        return false;
    libunwind.space = create(&libunwind_accessors, 0);
    return libunwind.space != NULL && set_caching(libunwind.space, UNW_CACHE_NONE) == 0;
}

/* Whether a walk gets anywhere; also makes the library set itself up, pipe included. */
static bool trial_walk(void)
{
    struct stack_registers registers = {.rbp = (uint64_t)__builtin_frame_address(0),
                                        .rip = (uint64_t)__builtin_return_address(0)};
    uint64_t pcs[1];
    size_t count = 0;
    enum stack_end end;
    return libunwind_walk(&registers, pcs, 1, &count, &end);
}

bool libunwind_load(void)
{
    int pair[2];
    void *library;
    bool usable;
    if (libunwind.space != NULL)
        return true;
    library = dlopen(library_name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    if (library != NULL) {
        dlclose(library);
        return false;
    }
    library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return false;
    predict_pipe(pair);
    usable = set_up(library) && trial_walk();
    close_pipe(pair);
    if (!usable)
        libunwind.space = NULL;
    return usable;
}
