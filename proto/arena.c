/* arena.c: memory that goes all at once, and the one place that handles its absence.
 *
 * An arena is a list of zeroed blocks; allocation moves a mark in the newest one. Blocks double up
 * to a limit, so a small profile stays small and a large one costs few calls. What does not fit
 * well into a block gets one of its own. Nothing is freed singly. */
#include "proto/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_ALIGNMENT 16u
#define ARENA_FIRST_BLOCK_BYTES ((size_t)4 << 10)
#define ARENA_LAST_BLOCK_BYTES ((size_t)1 << 20)
#define HEAP_FIRST_CAPACITY 8u

struct arena_block {
    struct arena_block *next;
    size_t size; /* of bytes */
    char bytes[] __attribute__((aligned(ARENA_ALIGNMENT)));
};

struct arena {
    struct arena_block *blocks; /* the newest first: the one that is filled */
    size_t used;                /* bytes of blocks[0] */
    size_t next_block_bytes;
};

static _Noreturn void out_of_memory(void)
{
    fputs("heapprof: out of memory\n", stderr);
    exit(1);
}

static void *checked(void *block)
{
    if (!block)
        out_of_memory();
    return block;
}

struct arena *arena_new(void)
{
    struct arena *arena = checked(calloc(1, sizeof(*arena)));
    arena->next_block_bytes = ARENA_FIRST_BLOCK_BYTES;
    return arena;
}

void arena_free(struct arena *arena)
{
    if (!arena)
        return;
    while (arena->blocks) {
        struct arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
    free(arena);
}

static struct arena_block *block_new(size_t size)
{
    size_t bytes;
    if (__builtin_add_overflow(size, sizeof(struct arena_block), &bytes))
        out_of_memory();
    struct arena_block *block = checked(calloc(1, bytes));
    block->size = size;
    return block;
}

/* A block for one large object goes behind the newest, which goes on being filled. */
static void *alloc_alone(struct arena *arena, size_t size)
{
    struct arena_block *block = block_new(size);
    if (arena->blocks) {
        block->next = arena->blocks->next;
        arena->blocks->next = block;
    } else {
        arena->blocks = block;
        arena->used = size;
    }
    return block->bytes;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    size_t need;
    if (__builtin_add_overflow(size, ARENA_ALIGNMENT - 1, &need))
        out_of_memory();
    need &= ~(size_t)(ARENA_ALIGNMENT - 1);
    if (need == 0)
        need = ARENA_ALIGNMENT;
    if (!arena->blocks || need > arena->blocks->size - arena->used) {
        if (need > arena->next_block_bytes / 4)
            return alloc_alone(arena, need);
        struct arena_block *block = block_new(arena->next_block_bytes);
        block->next = arena->blocks;
        arena->blocks = block;
        arena->used = 0;
        if (arena->next_block_bytes < ARENA_LAST_BLOCK_BYTES)
            arena->next_block_bytes *= 2;
    }
    void *result = arena->blocks->bytes + arena->used;
    arena->used += need;
    return result;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        out_of_memory();
    return arena_alloc(arena, bytes);
}

char *arena_text(struct arena *arena, const char *text, size_t length)
{
    size_t bytes;
    if (__builtin_add_overflow(length, 1u, &bytes))
        out_of_memory();
    char *copy = arena_alloc(arena, bytes);
    if (length > 0)
        memcpy(copy, text, length);
    return copy; /* the arena's memory is zeroed: the NUL is there */
}

void *heap_alloc(size_t size)
{
    return checked(malloc(size > 0 ? size : 1));
}

void *heap_realloc(void *block, size_t size)
{
    return checked(realloc(block, size > 0 ? size : 1));
}

void *heap_grow(void *array, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return array;
    size_t grown = *capacity > 0 ? *capacity : HEAP_FIRST_CAPACITY;
    while (grown < need) {
        if (__builtin_mul_overflow(grown, (size_t)2, &grown))
            out_of_memory();
    }
    size_t bytes;
    if (__builtin_mul_overflow(grown, size, &bytes))
        out_of_memory();
    array = heap_realloc(array, bytes);
    *capacity = grown;
    return array;
}

char *heap_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(heap_alloc(bytes), text, bytes);
}
