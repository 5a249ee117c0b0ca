/* entry_mimalloc.c: malloc and free with mimalloc's own short ways in them.
 *
 * Constructor time only. mimalloc's malloc and free are so short (30 cycles for both, measured on a
 * ring of small blocks, Zen 4) that merely to jump to them costs 10 %. So what we have to ask is
 * put right before a copy of their code, in the page of our entries (hook_entry.c):
 *
 *     malloc: test %rdi, %rdi; jle malloc_sampled             empty, or beyond PTRDIFF_MAX
 *             sub %rdi, %fs:sampler_until; jle malloc_sampled
 *             mi_malloc up to _mi_malloc_generic
 *     free:   cmp next_mimalloc_base(%rip), %rdi; jb next_mimalloc_free_other
 *             cmp next_mimalloc_end(%rip), %rdi; jae next_mimalloc_free_other
 *             mi_free up to mi_free_generic and _mi_page_retire
 *
 * Both are leaf functions without a frame, so the unwind information of our entries holds for them.
 * Where they would go on to mimalloc's longer ways, they come to hook_next_mimalloc.c instead,
 * which goes there through the gate.
 *
 * Only code that is known to the last byte is copied: that of Debian 12's libmimalloc 2.0.9+ds-2.
 * Elsewhere mimalloc is called, as hook_next_mimalloc.c does it. */
#include <stddef.h>
#include <string.h>

#include "runtime/entry_start.h"
#include "runtime/hook_entry.h"
#include "runtime/hook_mimalloc.h"
#include "runtime/hook_next_mimalloc.h"
#include "runtime/hook_sampler.h"

void *malloc_sampled(size_t size);

/* --- the code that is known ------------------------------------------------------------------ */

enum target { TO_CONSTANT, TO_MALLOC_EXIT, TO_FREE_EXIT, TO_RETIRE_EXIT };

/* The 32 bits at offset count from behind themselves to something outside of the function: one of
 * its ways out, or the place of a constant that `mov place(%rip), %rax` loads (mimalloc's heap in
 * thread-local storage), which may be too far from our page. */
struct relocation {
    uint16_t offset;
    uint16_t target; /* enum target */
};

struct known_code {
    size_t bytes;
    uint64_t hash;
    struct relocation relocations[3];
};

static const struct known_code known_malloc = {
    .bytes = 0x57,
    .hash = 0x30fcd4d1d3692fe9ull,
    .relocations = {{0x03, TO_CONSTANT}, {0x45, TO_MALLOC_EXIT}, {0x53, TO_MALLOC_EXIT}},
};

static const struct known_code known_free = {
    .bytes = 0x9a,
    .hash = 0x636ca3c5498ac04full,
    .relocations = {{0x74, TO_RETIRE_EXIT}, {0x83, TO_FREE_EXIT}, {0x96, TO_FREE_EXIT}},
};

/* FNV-1a (Fowler, Noll, Vo). */
static uint64_t hash_of(const uint8_t *bytes, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    return hash;
}

static bool is_known(const void *code, const struct known_code *known)
{
    return hash_of(code, known->bytes) == known->hash;
}

/* Where the 32 bits at `at` lead. */
static uintptr_t target_of(const uint8_t *at)
{
    int32_t distance;
    memcpy(&distance, at, sizeof(distance));
    return (uintptr_t)at + sizeof(distance) + (uintptr_t)(intptr_t)distance;
}

/* --- writing code ---------------------------------------------------------------------------- */

/* Code that is written to the copy of the page and will run in the page. */
struct writer {
    uint8_t *copy;
    size_t at;
    bool complete; /* no distance was too large */
};

static void put(struct writer *writer, const void *bytes, size_t count)
{
    memcpy(writer->copy + writer->at, bytes, count);
    writer->at += count;
}

/* The distance of target from behind these 32 bits, which are an instruction's last. */
static void put_distance(struct writer *writer, uintptr_t target)
{
    uintptr_t behind = (uintptr_t)hook_entry_page + writer->at + sizeof(int32_t);
    intptr_t distance = (intptr_t)(target - behind);
    int32_t encoded = (int32_t)distance;
    writer->complete &= encoded == distance;
    put(writer, &encoded, sizeof(encoded));
}

#define PUT(writer, ...)                                                                           \
    put(writer, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void begin(struct writer *writer, size_t at)
{
    writer->at = at;
    memset(writer->copy + at, 0xcc, HOOK_ENTRY_FUNCTION_BYTES);
#if defined(__CET__) && (__CET__ & 1) != 0
    PUT(writer, 0xf3, 0x0f, 0x1e, 0xfa); /* endbr64 */
#endif
}

/* Makes `mov place(%rip), %rax`, whose 32 bits come next, a `mov $constant, %rax`. */
static void put_constant(struct writer *writer, uintptr_t place)
{
    int64_t constant;
    memcpy(&constant, (const void *)place, sizeof(constant));
    int32_t encoded = (int32_t)constant;
    writer->complete &= encoded == constant;
    writer->at -= 2;
    PUT(writer, 0xc7, 0xc0);
    put(writer, &encoded, sizeof(encoded));
}

static void put_known(struct writer *writer, const void *code, const struct known_code *known)
{
    const uintptr_t exits[] = {
        [TO_MALLOC_EXIT] = (uintptr_t)next_mimalloc_malloc_exit,
        [TO_FREE_EXIT] = (uintptr_t)next_mimalloc_free_exit,
        [TO_RETIRE_EXIT] = (uintptr_t)next_mimalloc_retire_exit,
    };
    const uint8_t *bytes = code;
    size_t start = writer->at;
    put(writer, bytes, known->bytes);
    size_t end = writer->at;
    for (size_t i = 0; i < sizeof(known->relocations) / sizeof(*known->relocations); i++) {
        const struct relocation *relocation = &known->relocations[i];
        writer->at = start + relocation->offset;
        if (relocation->target == TO_CONSTANT)
            put_constant(writer, target_of(bytes + relocation->offset));
        else
            put_distance(writer, exits[relocation->target]);
    }
    writer->at = end;
}

/* --- the entries ----------------------------------------------------------------------------- */

static size_t uncounted_malloc; /* offset in the page */

static void write_malloc(struct writer *writer)
{
    int32_t sampler = (int32_t)((intptr_t)&sampler_until - (intptr_t)__builtin_thread_pointer());
    begin(writer, 0);
    PUT(writer, 0x48, 0x85, 0xff); /* test %rdi, %rdi */
    PUT(writer, 0x0f, 0x8e);       /* jle */
    put_distance(writer, (uintptr_t)malloc_sampled);
    PUT(writer, 0x64, 0x48, 0x29, 0x3c, 0x25); /* sub %rdi, %fs:sampler */
    put(writer, &sampler, sizeof(sampler));
    PUT(writer, 0x0f, 0x8e); /* jle */
    put_distance(writer, (uintptr_t)malloc_sampled);
    uncounted_malloc = writer->at;
    put_known(writer, (const void *)mimalloc.mi_malloc, &known_malloc);
}

static void write_free(struct writer *writer)
{
    begin(writer, HOOK_ENTRY_FUNCTION_BYTES);
    PUT(writer, 0x48, 0x3b, 0x3d); /* cmp next_mimalloc_base(%rip), %rdi */
    put_distance(writer, (uintptr_t)&next_mimalloc_base);
    PUT(writer, 0x0f, 0x82); /* jb */
    put_distance(writer, (uintptr_t)next_mimalloc_free_other);
    PUT(writer, 0x48, 0x3b, 0x3d); /* cmp next_mimalloc_end(%rip), %rdi */
    put_distance(writer, (uintptr_t)&next_mimalloc_end);
    PUT(writer, 0x0f, 0x83); /* jae */
    put_distance(writer, (uintptr_t)next_mimalloc_free_other);
    put_known(writer, (const void *)mimalloc.mi_free, &known_free);
}

static bool write_entries(uint8_t *copy)
{
    struct writer writer = {.copy = copy, .complete = true};
    write_malloc(&writer);
    write_free(&writer);
    return writer.complete;
}

bool entry_start_with_mimalloc(void)
{
    const uint8_t *free_code = (const uint8_t *)(uintptr_t)mimalloc.mi_free;
    if (!is_known((const void *)mimalloc.mi_malloc, &known_malloc) ||
        !is_known(free_code, &known_free) || !entry_replace(write_entries))
        return false;
    uintptr_t page = (uintptr_t)hook_entry_page;
    const struct next_mimalloc_entry entry = {
        .malloc = (void *(*)(size_t))(page + uncounted_malloc),
        .free = (void (*)(void *))(page + HOOK_ENTRY_FUNCTION_BYTES),
        .retire = (void (*)(void *))target_of(free_code + known_free.relocations[0].offset),
    };
    next_mimalloc_use_entry(&entry);
    return true;
}
