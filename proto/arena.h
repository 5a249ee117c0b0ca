/* arena.h: memory that goes all at once.
 *
 * A profile and everything it points to lives in one arena. Out of memory in the launcher is
 * handled here and nowhere else: one line on stderr and exit status 1. Not used in the target. */
#ifndef HEAPPROF_PROTO_ARENA_H
#define HEAPPROF_PROTO_ARENA_H

#include <stddef.h>

struct arena;

/* A new, empty arena; the caller frees it with arena_free. Never NULL. */
struct arena *arena_new(void);
/* Frees the arena and everything allocated from it. NULL is accepted. */
void arena_free(struct arena *arena);
/* size bytes, zeroed, aligned to 16; lives as long as the arena. Never NULL; size 0 gives a valid
 * pointer. */
void *arena_alloc(struct arena *arena, size_t size);
/* As arena_alloc(count * size) with the product checked; exits as out of memory on overflow. */
void *arena_array(struct arena *arena, size_t count, size_t size);
/* Copies length bytes of text and adds a NUL. */
char *arena_text(struct arena *arena, const char *text, size_t length);

/* malloc family for objects with one owner outside an arena; never NULL (exit 1 as above).
 * heap_grow doubles *capacity until it is at least need and reallocs array (elements of size
 * bytes); freed with free. */
void *heap_alloc(size_t size);
void *heap_realloc(void *block, size_t size);
void *heap_grow(void *array, size_t *capacity, size_t need, size_t size);
char *heap_text(const char *text);

#endif
