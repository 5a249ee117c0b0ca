/* crossed_frees.c: objects of every origin, freed and resized by the program's own free and
 * realloc.
 *
 * From before any constructor, from libc's malloc by its inner name (as a library linked to libc
 * alone would have them), from inside of libc, and from here in all sizes, by all ways. A model
 * compares contents over random steps, on two threads that free each other's. Prints "ok". */
#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);

enum { SLOTS = 300, STEPS = 2000 };

static char *early_small, *early_large;

static void before_constructors(void)
{
    early_small = strcpy(malloc(20), "early");
    early_large = strcpy(malloc(300000), "early and large");
}
__attribute__((section(".preinit_array"), used)) static void (*const early[])(void) = {
    before_constructors};

static void check(int good, const char *what)
{
    if (good)
        return;
    printf("wrong: %s\n", what);
    exit(1);
}

static void of_other_origin(void)
{
    char *p = realloc(early_small, 100000);
    check(strcmp(p, "early") == 0, "realloc of an early object");
    free(p);
    check(malloc_usable_size(early_large) >= 300000, "usable size of an early object");
    free(early_large);
    for (size_t size = 10; size < 4u << 20; size *= 3) {
        p = strcpy(__libc_malloc(size), "from libc");
        check(malloc_usable_size(p) >= size, "usable size of libc's");
        p = realloc(p, size * 3);
        check(strcmp(p, "from libc") == 0, "realloc of libc's");
        free(p);
        free(__libc_calloc(size, 2));
    }
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    check(getline(&line, &room, file) > 0, "getline");
    fclose(file);
    free(realloc(line, 3000));
    check(asprintf(&p, "%0*d", 70000, 7) == 70000 && p[69999] == '7', "asprintf");
    free(p);
    struct dirent **names;
    int count = scandir("/proc/self", &names, NULL, alphasort);
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

/* --- the model ------------------------------------------------------------------------------- */

static struct slot {
    unsigned char *p;
    size_t size;
    unsigned char fill;
} slots[2][SLOTS];
static pthread_barrier_t turn;

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Small mostly, up to 2 MiB. */
static size_t random_size(uint32_t *state)
{
    return next_random(state) % (16u << next_random(state) % 18);
}

static void *allocate(size_t size, uint32_t *state)
{
    size_t alignment = 16u << next_random(state) % 10;
    void *p = NULL;
    switch (next_random(state) % 5) {
    case 0:
        p = calloc(1, size);
        for (size_t i = 0; i < size; i += 61)
            check(((char *)p)[i] == 0, "calloc is not zero");
        return p;
    case 1:
        check(posix_memalign(&p, alignment, size) == 0 && (uintptr_t)p % alignment == 0,
              "posix_memalign");
        return p;
    case 2:
        p = memalign(alignment, size);
        check((uintptr_t)p % alignment == 0, "memalign");
        return p;
    default:
        return malloc(size);
    }
}

static void check_slot(const struct slot *slot, size_t size)
{
    for (size_t i = 0; i < size; i += 61)
        check(slot->p[i] == slot->fill, "contents");
    check(size == 0 || slot->p[size - 1] == slot->fill, "last byte");
}

static void step(struct slot *slot, uint32_t *state)
{
    size_t size = random_size(state);
    if (slot->p != NULL && next_random(state) % 3 == 0) {
        size += 1;
        slot->p = realloc(slot->p, size);
        check_slot(slot, size < slot->size ? size : slot->size);
    } else {
        if (slot->p != NULL)
            check_slot(slot, slot->size);
        free(slot->p);
        slot->p = allocate(size, state);
    }
    check(slot->p != NULL && malloc_usable_size(slot->p) >= size, "no object");
    slot->size = size;
    slot->fill = (unsigned char)next_random(state);
    memset(slot->p, slot->fill, size);
}

static void *run(void *argument)
{
    uintptr_t thread = (uintptr_t)argument;
    uint32_t state = (uint32_t)thread + 1;
    for (int i = 0; i < STEPS; i++) {
        if (i % (STEPS / 20) == 0)
            pthread_barrier_wait(&turn); /* each goes on with the other's objects */
        step(&slots[(thread + (uintptr_t)(i / (STEPS / 20))) % 2][next_random(&state) % SLOTS],
             &state);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    of_other_origin();
    pthread_barrier_init(&turn, NULL, 2);
    for (uintptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2 * SLOTS; i++)
        free(slots[i % 2][i / 2].p);
    puts("ok");
    return 0;
}
