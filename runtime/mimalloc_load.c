/* mimalloc_load.c: brings the private mimalloc into the target, unseen, and its options.
 *
 * Constructor time only: dlopen allocates and takes the loader's lock. The library is a copy under
 * a name of its own, or the loader would hand out the instance that the target may be using; and
 * RTLD_LOCAL, as it exports malloc and operator new.
 *
 * The options are read from MIMALLOC_* variables when the library is loaded. They are hidden where
 * the user means them for the target's own mimalloc: some would print into the target or take
 * memory from elsewhere. Where this mimalloc is the target's, only those are hidden that would take
 * memory from elsewhere; what they ask for is done with the part of the range instead
 * (hook_mimalloc.c). Source: src/options.c and src/init.c of mimalloc 2.0.9. */
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "runtime/hook_mimalloc.h"

static bool find_functions(void *library, struct mimalloc_calls *calls)
{
#define FUNCTION_ROW(name) {#name, (void **)(void *)&calls->name},
    const struct {
        const char *name;
        void **pointer;
    } rows[] = {MIMALLOC_FUNCTIONS(FUNCTION_ROW)};
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

/* While the library is loaded, with no variables: each option becomes a set one, which nothing
 * reads again. */
static void settle_options(const struct mimalloc_calls *calls)
{
    for (int option = 0; option < (int)_mi_option_last; option++)
        calls->mi_option_set((mi_option_t)option, calls->mi_option_get((mi_option_t)option));
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

/* --- the user's options about memory -------------------------------------------------------- */

#define GIB (1ull << 30)

/* The number and the suffix of MIMALLOC_RESERVE_OS_MEMORY, in bytes; 1 and 0 are also yes and no,
 * in words. 0 when it is none. */
static uint64_t size_value(const char *text)
{
    static const char *const yes[] = {"", "1", "true", "yes", "on"};
    for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
        if (strcasecmp(text, yes[i]) == 0)
            return 1024;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    const char *units = "KMG",
               *unit = *end != '\0' ? strchr(units, toupper((unsigned char)*end)) : NULL;
    uint64_t bytes;
    unsigned shift = unit == NULL ? 0 : 10 * (unsigned)(unit - units + 1);
    if (end == text || errno != 0 || __builtin_mul_overflow(value, 1ull << shift, &bytes))
        return 0;
    end += unit != NULL;
    bool complete = *end == '\0' || strcasecmp(end, "iB") == 0 || strcasecmp(end, "B") == 0;
    return complete && bytes <= INT64_MAX ? bytes : 0;
}

/* Pages of 1 GiB that MIMALLOC_RESERVE_HUGE_OS_PAGES asks for, in bytes. */
static uint64_t huge_value(const char *text)
{
    uint64_t pages = size_value(text);
    return pages == 1024 ? GIB : pages <= 128 * 1024 ? pages * GIB : 0;
}

static bool is_yes(const char *text)
{
    return size_value(text) != 0;
}

/* The value when entry is this option's variable, in either case; NULL else. */
static const char *value_of(const char *entry, const char *option)
{
    static const char prefix[] = "mimalloc_";
    size_t length = strlen(option);
    if (strncasecmp(entry, prefix, sizeof(prefix) - 1) != 0)
        return NULL;
    entry += sizeof(prefix) - 1;
    return strncasecmp(entry, option, length) == 0 && entry[length] == '=' ? entry + length + 1
                                                                           : NULL;
}

/* True when mimalloc must not see the entry; what it asks for is noted. */
static bool takes_memory(const char *entry, struct mimalloc_wishes *wishes)
{
    const char *value;
    if ((value = value_of(entry, "reserve_os_memory")) != NULL)
        wishes->reserve_bytes += size_value(value);
    else if ((value = value_of(entry, "reserve_huge_os_pages")) != NULL) {
        wishes->reserve_bytes += huge_value(value);
        wishes->huge_pages |= is_yes(value);
    } else if ((value = value_of(entry, "large_os_pages")) != NULL)
        wishes->huge_pages |= is_yes(value);
    else
        return value_of(entry, "limit_os_alloc") != NULL;
    return true;
}

/* The environment without those; to be freed. NULL when there is no memory. */
static char **harmless_variables(char **variables, struct mimalloc_wishes *wishes)
{
    size_t count = 0;
    while (variables[count] != NULL)
        count++;
    char **kept = calloc(count + 1, sizeof(*kept));
    size_t at = 0;
    for (size_t i = 0; kept != NULL && i < count; i++)
        if (!takes_memory(variables[i], wishes))
            kept[at++] = variables[i];
    return kept;
}

bool mimalloc_load(const char *path, bool users_options, struct mimalloc_calls *calls,
                   struct mimalloc_wishes *wishes)
{
    static char *no_variables[] = {NULL};
    *wishes = (struct mimalloc_wishes){0};
    char **variables = environ;
    char **harmless = users_options ? harmless_variables(variables, wishes) : NULL;
    environ = harmless != NULL ? harmless : no_variables;
    void *library = load(path);
    bool ok = library != NULL && find_functions(library, calls);
    if (ok && harmless == NULL)
        settle_options(calls);
    environ = variables;
    free(harmless);
    if (ok)
        calls->mi_option_set(mi_option_limit_os_alloc, 1);
    return ok;
}
