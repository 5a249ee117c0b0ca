// allocation_family.cc: every way to allocate, each from a caller of its own: 1 MiB, kept.
//
// At --rate=1 the caller c_NAME has alloc 1/1048576 and in use 1/1048576 (strdup, getline and
// asprintf: at least that). Prints "ok" when alignments, errno and failures are glibc's.
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <new>

#define CALLER extern "C" __attribute__((noinline))
static const size_t MIB = 1 << 20;
static void *volatile kept[40];
static int kept_count;
static bool good = true;

static void *keep(void *object, size_t alignment = 16)
{
    good = good && object != nullptr && (uintptr_t)object % alignment == 0;
    kept[kept_count++] = object;
    return object;
}

CALLER void c_malloc() { keep(malloc(MIB)); }
CALLER void c_calloc() { char *p = (char *)keep(calloc(MIB / 8, 8)); good = good && p[0] == 0 && p[MIB - 1] == 0; }
CALLER void c_realloc() { keep(realloc(nullptr, MIB)); }
CALLER void c_reallocarray() { keep(reallocarray(nullptr, MIB / 4, 4)); }
CALLER void c_memalign() { keep(memalign(4096, MIB), 4096); }
CALLER void c_aligned_alloc() { keep(aligned_alloc(1 << 16, MIB), 1 << 16); }
CALLER void c_posix_memalign() { void *p = nullptr; good = good && posix_memalign(&p, 1 << 21, MIB) == 0; keep(p, 1 << 21); }
CALLER void c_valloc() { keep(valloc(MIB), 4096); }
CALLER void c_pvalloc() { keep(pvalloc(MIB - 5), 4096); }
CALLER void c_new() { keep(::operator new(MIB)); }
CALLER void c_new_array() { keep(new char[MIB]); }
CALLER void c_new_nothrow() { keep(new (std::nothrow) char[MIB]); }
struct alignas(64) Wide { char bytes[64]; };
CALLER void c_new_aligned() { keep(new Wide[MIB / 64], 64); }

static void check_failures()
{
    void *p = (void *)1;
    errno = 0;
    good = good && posix_memalign(&p, 24, 10) == EINVAL && p == (void *)1 && errno == 0;
    good = good && malloc(SIZE_MAX - 64) == nullptr && errno == ENOMEM;
    errno = 0;
    good = good && calloc(SIZE_MAX / 2 + 1, 2) == nullptr && errno == ENOMEM;
    errno = 0;
    good = good && reallocarray(kept[0], SIZE_MAX / 2 + 1, 2) == nullptr && errno == ENOMEM;
    errno = 77;
    free(malloc(100));
    free(nullptr);
    good = good && errno == 77 && realloc(malloc(10), 0) == nullptr;
    try { keep(::operator new(SIZE_MAX - 64)); good = false; } catch (const std::bad_alloc &) {}
    good = good && ::operator new(SIZE_MAX - 64, std::nothrow) == nullptr;
    good = good && malloc_usable_size(kept[0]) >= MIB && malloc_usable_size(nullptr) == 0;
}

int main()
{
    c_malloc(); c_calloc(); c_realloc(); c_reallocarray(); c_memalign(); c_aligned_alloc();
    c_posix_memalign(); c_valloc(); c_pvalloc(); c_new(); c_new_array(); c_new_nothrow(); c_new_aligned();
    check_failures();
    for (int i = 0; i < kept_count; i++)
        memset(kept[i], 1, MIB - 5);
    puts(good ? "ok" : "wrong");
    return good ? 0 : 1;
}
