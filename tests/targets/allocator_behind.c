/* allocator_behind.c: says which allocator has given what malloc and its kin returned.
 *
 * One line: "NAME: FUNCTION...", the functions whose objects NAME has; then, if there are any, a
 * line "other: FUNCTION...". NAME is jemalloc or tcmalloc where that is loaded, else system. Asks
 * jemalloc for its count of allocated bytes before and after (its statistics are per thread),
 * tcmalloc whether it owns the object. With -f a forked child says it as well, with -e one that
 * executes this program again, each before its parent. */
#include <dlfcn.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 1000, OWNED_BY_TCMALLOC = 1 };

static int (*jemalloc_control)(const char *, void *, size_t *, void *, size_t);
static int (*tcmalloc_owner)(const void *);

static void *by_posix_memalign(void)
{
    void *object = NULL;
    return posix_memalign(&object, 64, BYTES) == 0 ? object : NULL;
}

#define MAKER(name, call)                                                                          \
    static void *by_##name(void)                                                                   \
    {                                                                                              \
        return call;                                                                               \
    }
MAKER(malloc, malloc(BYTES))
MAKER(calloc, calloc(BYTES, 1))
MAKER(realloc, realloc(malloc(10), BYTES))
MAKER(memalign, memalign(64, BYTES))
MAKER(aligned_alloc, aligned_alloc(64, BYTES))
MAKER(valloc, valloc(BYTES))
MAKER(pvalloc, pvalloc(BYTES))

static const struct {
    const char *name;
    void *(*make)(void);
} functions[] = {
    {"malloc", by_malloc},   {"calloc", by_calloc},
    {"realloc", by_realloc}, {"memalign", by_memalign},
    {"valloc", by_valloc},   {"aligned_alloc", by_aligned_alloc},
    {"pvalloc", by_pvalloc}, {"posix_memalign", by_posix_memalign},
};

enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

/* What the thread has allocated with jemalloc, in bytes. */
static uint64_t jemalloc_bytes(void)
{
    uint64_t bytes = 0;
    size_t size = sizeof(bytes);
    return jemalloc_control("thread.allocated", &bytes, &size, NULL, 0) == 0 ? bytes : 0;
}

/* Makes an object and frees it again; whether the allocator that was looked for has given it. */
static bool is_of_allocator(void *(*make)(void))
{
    uint64_t before = jemalloc_control != NULL ? jemalloc_bytes() : 0;
    void *object = make();
    if (object == NULL || malloc_usable_size(object) < BYTES)
        exit(1);
    memset(object, 1, BYTES);
    bool owned = jemalloc_control != NULL ? jemalloc_bytes() >= before + BYTES
                 : tcmalloc_owner != NULL ? tcmalloc_owner(object) == OWNED_BY_TCMALLOC
                                          : true;
    free(object);
    return owned;
}

static void tell(const bool *owned, bool wanted, const char *name)
{
    printf("%s:", name);
    for (int i = 0; i < FUNCTIONS; i++)
        if (owned[i] == wanted)
            printf(" %s", functions[i].name);
    putchar('\n');
}

int main(int argc, char **argv)
{
    jemalloc_control = (__typeof__(jemalloc_control))dlsym(RTLD_DEFAULT, "mallctl");
    tcmalloc_owner =
        (__typeof__(tcmalloc_owner))dlsym(RTLD_DEFAULT, "MallocExtension_GetOwnership");
    if (argc > 1) {
        pid_t child = fork();
        if (child == 0 && strcmp(argv[1], "-e") == 0)
            execl(argv[0], argv[0], NULL);
        int status;
        if (child != 0 && (waitpid(child, &status, 0) != child || status != 0))
            return 1;
    }
    bool owned[FUNCTIONS], all = true;
    for (int i = 0; i < FUNCTIONS; i++)
        all &= owned[i] = is_of_allocator(functions[i].make);
    tell(owned, true,
         jemalloc_control != NULL ? "jemalloc"
         : tcmalloc_owner != NULL ? "tcmalloc"
                                  : "system");
    if (!all)
        tell(owned, false, "other");
    return 0;
}
