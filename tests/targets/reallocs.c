/* reallocs.c: every way of changing a block's size, one function each.
 *
 *     function          alloc           inuse          (objects/bytes, at --rate=1)
 *     small_and_freed   2/24            0/0            8 to 16 bytes, freed
 *     page_and_freed    2/3072          0/0            1024 to 2048 bytes, freed
 *     chain             100/5050000     1/100000       1000, 2000, ... 100000 bytes
 *     shrink            2/100100        1/100
 *     shrink_large      2/9437184       1/1048576      8 MiB to 1 MiB
 *     fail              1/500           1/500          five requests that cannot be met
 *     to_nothing        1/64            0/0            realloc(p, 0) frees
 *     from_nothing      1/70            1/70           realloc(NULL, 70)
 *     begin             1/300           0/0            the block moves to the last realloc's stack
 *     end               1/600           1/600
 *     from_aligned      2/4000          1/3000
 *     from_calloc       2/3300000       1/3000000
 *     by_array          2/1200          1/800          reallocarray
 *
 * Contents are looked at after every step. Prints "ok" and what errno was after each failure. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SITE __attribute__((noinline)) static void

static unsigned char *volatile kept[16];
static unsigned kept_count;
static int failures[8];

static unsigned char *filled(void *p, size_t size)
{
    if (p == NULL)
        abort();
    memset(p, (int)(size % 251), size);
    return p;
}

static unsigned char *checked(void *p, size_t filled_size, size_t size)
{
    unsigned char *bytes = p;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != filled_size % 251)
            abort();
    return p;
}

static void keep(void *p)
{
    kept[kept_count++] = p;
}

SITE small_and_freed(void)
{
    void *p = filled(malloc(8), 8);
    free(checked(realloc(p, 16), 8, 8));
}

SITE page_and_freed(void)
{
    void *p = filled(malloc(1024), 1024);
    free(checked(realloc(p, 2048), 1024, 1024));
}

SITE chain(void)
{
    unsigned char *p = NULL;
    for (size_t i = 1; i <= 100; i++)
        p = filled(checked(realloc(p, i * 1000), (i - 1) * 1000, (i - 1) * 1000), i * 1000);
    keep(p);
}

SITE shrink(void)
{
    void *p = filled(malloc(100000), 100000);
    keep(checked(realloc(p, 100), 100000, 100));
}

SITE shrink_large(void)
{
    void *p = filled(malloc(8 << 20), 8 << 20);
    keep(checked(realloc(p, 1 << 20), 8 << 20, 1 << 20));
}

SITE fail(void)
{
    static volatile size_t sizes[] = {SIZE_MAX, PTRDIFF_MAX, SIZE_MAX - 64, 1ull << 46};
    void *p = filled(malloc(500), 500);
    for (int i = 0; i < 4; i++) {
        errno = 0;
        if (realloc(p, sizes[i]) != NULL)
            abort();
        failures[i] = errno;
    }
    errno = 0;
    if (reallocarray(p, sizes[0] / 2, 3) != NULL)
        abort();
    failures[4] = errno;
    keep(checked(p, 500, 500));
}

SITE to_nothing(void)
{
    void *p = filled(malloc(64), 64);
    if (realloc(p, 0) != NULL)
        abort();
}

SITE from_nothing(void)
{
    keep(filled(realloc(NULL, 70), 70));
}

__attribute__((noinline)) static void *begin(void)
{
    return filled(malloc(300), 300);
}

SITE end(void *p)
{
    keep(checked(realloc(p, 600), 300, 300));
}

SITE from_aligned(void)
{
    void *p = NULL;
    if (posix_memalign(&p, 256, 1000) != 0)
        abort();
    keep(checked(realloc(filled(p, 1000), 3000), 1000, 1000));
}

SITE from_calloc(void)
{
    void *p = checked(calloc(3000, 100), 0, 300000);
    keep(checked(realloc(p, 3000000), 0, 300000));
}

SITE by_array(void)
{
    void *p = filled(malloc(400), 400);
    keep(checked(reallocarray(p, 100, 8), 400, 400));
}

int main(void)
{
    small_and_freed();
    page_and_freed();
    chain();
    shrink();
    shrink_large();
    fail();
    to_nothing();
    from_nothing();
    end(begin());
    from_aligned();
    from_calloc();
    by_array();
    printf("ok %d %d %d %d %d\n", failures[0], failures[1], failures[2], failures[3], failures[4]);
    return 0;
}
