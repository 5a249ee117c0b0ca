/* allocates_sizes.c: blocks of given sizes, each kind at a call site of its own.
 *
 * Every argument SITE:SIZExCOUNT:HOW lets the function site_SITE (0 to 9) allocate COUNT blocks of
 * SIZE bytes. HOW is how and what becomes of them: k malloc, kept; h malloc, every second freed at
 * once; f malloc, each freed at once; p posix_memalign and a aligned_alloc to 4096 bytes, kept; c
 * calloc, kept; r malloc, then made twice as large by realloc, kept. Blocks are not written to.
 * Nothing else is allocated after the first of them. */
#include <stdio.h>
#include <stdlib.h>

struct request {
    int site;
    size_t size;
    long count;
    char how;
};

static void *volatile last;

static inline void make(const struct request *request)
{
    for (long i = 0; i < request->count; i++) {
        void *p = NULL;
        if (request->how == 'p') {
            if (posix_memalign(&p, 4096, request->size) != 0)
                abort();
        } else if (request->how == 'a')
            p = aligned_alloc(4096, request->size);
        else if (request->how == 'c')
            p = calloc(1, request->size);
        else
            p = malloc(request->size);
        if (request->how == 'r')
            p = realloc(p, 2 * request->size);
        last = p;
        if (request->how == 'f' || (request->how == 'h' && i % 2 == 1))
            free(p);
    }
}

#define SITE(number)                                                                               \
    __attribute__((noinline)) static void site_##number(const struct request *request)             \
    {                                                                                              \
        make(request);                                                                             \
    }
SITE(0)
SITE(1)
SITE(2)
SITE(3)
SITE(4)
SITE(5)
SITE(6)
SITE(7)
SITE(8)
SITE(9)

static void (*const sites[])(const struct request *) = {site_0, site_1, site_2, site_3, site_4,
                                                        site_5, site_6, site_7, site_8, site_9};

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct request request;
        if (sscanf(argv[i], "%d:%zux%ld:%c", &request.site, &request.size, &request.count,
                   &request.how) != 4 ||
            request.site < 0 || request.site > 9)
            return 2;
        sites[request.site](&request);
    }
    return 0;
}
