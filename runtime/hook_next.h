/* hook_next.h: the allocator that the target would have used without us.
 *
 * Filled by the constructor from dlsym(RTLD_NEXT, ...); before that, its entries lead to bootstrap
 * functions that serve the loader's own allocations from the range (hook_bootstrap.c). Read in the
 * hot path, written once. */
#ifndef HEAPPROF_RUNTIME_HOOK_NEXT_H
#define HEAPPROF_RUNTIME_HOOK_NEXT_H

#include <stddef.h>

struct next {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void *);
    /* The same where it is of the library that malloc comes from; else next_size_unknown, for
     * another library's answer about an object of this one would be an accident. */
    size_t (*known_size)(void *);
};

extern struct next next __attribute__((visibility("hidden")));

/* What an allocator may lack, made of its posix_memalign (hook_next.c): memalign and aligned_alloc,
 * valloc, pvalloc. */
void *next_aligned(size_t alignment, size_t size) __attribute__((visibility("hidden")));
void *next_page_aligned(size_t size) __attribute__((visibility("hidden")));
void *next_pages(size_t size) __attribute__((visibility("hidden")));
/* Always 0. */
size_t next_size_unknown(void *p) __attribute__((visibility("hidden")));

#endif
