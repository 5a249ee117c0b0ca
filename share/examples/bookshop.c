/* bookshop.c: a program to try heapprof on: an imaginary online bookshop.
 *
 * It uses memory in the ways programs do: many small objects that stay (the catalogue), a table
 * that doubles (the index), a tree built by recursion (the genres), large buffers held for a moment
 * (the covers), a cache that grows and is trimmed (the pages), short strings that come and go, two
 * threads, and a leak: the sessions of visitors are never given back. At its peak it holds 62 MB;
 * 10 MB leak. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BOOKS = 250000,
    GENRES_DEEP = 7,
    FINER_GENRES = 4,
    COVERS = 14,
    COVER_BYTES = 1 << 20,
    CACHED_PAGES = 4096,
    THREADS = 2,
    VISITS_PER_THREAD = 30000
};

struct book {
    char *title;
    char *author;
    uint32_t number;
};

struct catalogue {
    struct book *books[BOOKS];
};

struct index {
    struct book **slots;
    size_t capacity; /* a power of two */
    size_t used;
};

struct genre {
    struct genre *finer[FINER_GENRES];
    char *description;
};

struct session {
    struct session *previous;
    char visitor[160];
};

struct page_cache {
    pthread_mutex_t lock;
    char *pages[CACHED_PAGES];
};

struct shop {
    struct catalogue catalogue;
    struct index index;
    struct genre *genres;
    struct page_cache cache;
};

static void *checked(void *memory)
{
    if (memory == NULL) {
        fputs("bookshop: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

/* --- the catalogue: many small objects that stay ------------------------------------------- */

static char *invent_title(uint32_t number)
{
    static const char *const subjects[] = {"gardens", "sea charts", "clockwork", "lighthouses"};
    char text[96];
    snprintf(text, sizeof(text), "A history of %s, volume %u", subjects[number % 4], number);
    return checked(strdup(text));
}

static char *invent_author(uint32_t number)
{
    char text[48];
    snprintf(text, sizeof(text), "Author No. %u", number % 9973);
    return checked(strdup(text));
}

static struct book *add_book(uint32_t number)
{
    struct book *book = checked(malloc(sizeof(*book)));
    book->title = invent_title(number);
    book->author = invent_author(number);
    book->number = number;
    return book;
}

static void load_catalogue(struct catalogue *catalogue)
{
    for (uint32_t i = 0; i < BOOKS; i++)
        catalogue->books[i] = add_book(i);
}

static void free_catalogue(struct catalogue *catalogue)
{
    for (uint32_t i = 0; i < BOOKS; i++) {
        free(catalogue->books[i]->title);
        free(catalogue->books[i]->author);
        free(catalogue->books[i]);
    }
}

/* --- the index: a table that doubles ------------------------------------------------------- */

static void index_put(struct index *index, struct book *book)
{
    size_t slot = (book->number * 2654435761u) & (index->capacity - 1);
    while (index->slots[slot] != NULL)
        slot = (slot + 1) & (index->capacity - 1);
    index->slots[slot] = book;
}

static void index_grow(struct index *index)
{
    struct index grown = {.capacity = index->capacity == 0 ? 64 : 2 * index->capacity,
                          .used = index->used};
    grown.slots = checked(calloc(grown.capacity, sizeof(*grown.slots)));
    for (size_t i = 0; i < index->capacity; i++)
        if (index->slots[i] != NULL)
            index_put(&grown, index->slots[i]);
    free(index->slots);
    *index = grown;
}

static void build_index(struct index *index, const struct catalogue *catalogue)
{
    for (uint32_t i = 0; i < BOOKS; i++) {
        if (2 * index->used >= index->capacity)
            index_grow(index);
        index_put(index, catalogue->books[i]);
        index->used++;
    }
}

/* --- the genres: a tree, built by recursion ------------------------------------------------ */

static char *describe_genre(unsigned depth, unsigned number)
{
    char *description = checked(malloc(256));
    snprintf(description, 256, "Genre %u, %u levels from the finest", number, depth);
    return description;
}

static struct genre *divide_genre(unsigned depth, unsigned number)
{
    struct genre *genre = checked(calloc(1, sizeof(*genre)));
    genre->description = describe_genre(depth, number);
    for (unsigned i = 0; depth > 0 && i < FINER_GENRES; i++)
        genre->finer[i] = divide_genre(depth - 1, FINER_GENRES * number + i);
    return genre;
}

static void free_genre(struct genre *genre)
{
    for (unsigned i = 0; i < FINER_GENRES && genre->finer[i] != NULL; i++)
        free_genre(genre->finer[i]);
    free(genre->description);
    free(genre);
}

/* --- the covers: large buffers held for a moment ------------------------------------------- */

static uint8_t *decode_cover(unsigned cover)
{
    uint8_t *pixels = checked(malloc(COVER_BYTES));
    memset(pixels, (int)cover, COVER_BYTES);
    return pixels;
}

static unsigned print_cover_sheet(void)
{
    uint8_t *covers[COVERS];
    unsigned sum = 0;
    for (unsigned i = 0; i < COVERS; i++)
        covers[i] = decode_cover(i);
    for (unsigned i = 0; i < COVERS; i++) {
        sum += covers[i][COVER_BYTES / 2];
        free(covers[i]);
    }
    return sum;
}

/* --- visits: strings that come and go, a cache, and a leak --------------------------------- */

struct page {
    char *text;
    size_t length;
    size_t capacity;
};

static void append(struct page *page, const char *more)
{
    size_t more_length = strlen(more);
    if (page->length + more_length >= page->capacity) {
        page->capacity = 2 * page->capacity + more_length + 256;
        page->text = checked(realloc(page->text, page->capacity));
    }
    memcpy(page->text + page->length, more, more_length + 1);
    page->length += more_length;
}

static char *render_page(const struct shop *shop, uint32_t first)
{
    struct page page = {0};
    for (uint32_t i = 0; i < 24; i++) {
        const struct book *book = shop->catalogue.books[(first + i) % BOOKS];
        append(&page, book->title);
        append(&page, " by ");
        append(&page, book->author);
        append(&page, "\n");
    }
    return page.text;
}

static void cache_page(struct page_cache *cache, uint32_t key, char *page)
{
    pthread_mutex_lock(&cache->lock);
    char **slot = &cache->pages[key % CACHED_PAGES];
    free(*slot);
    *slot = page;
    pthread_mutex_unlock(&cache->lock);
}

static void trim_cache(struct page_cache *cache, uint32_t keep)
{
    for (uint32_t i = keep; i < CACHED_PAGES; i++) {
        free(cache->pages[i]);
        cache->pages[i] = NULL;
    }
}

/* The leak: nothing ever walks this list to give a session back. */
static struct session *remember_visitor(struct session *newest, uint32_t visit)
{
    struct session *session = checked(malloc(sizeof(*session)));
    snprintf(session->visitor, sizeof(session->visitor), "visitor %u", visit);
    session->previous = newest;
    return session;
}

static void *serve_visitors(void *argument)
{
    struct shop *shop = argument;
    struct session *newest = NULL;
    for (uint32_t visit = 0; visit < VISITS_PER_THREAD; visit++) {
        newest = remember_visitor(newest, visit);
        cache_page(&shop->cache, visit, render_page(shop, visit * 7));
    }
    return newest;
}

static bool open_doors(struct shop *shop)
{
    pthread_t threads[THREADS];
    unsigned started = 0;
    while (started < THREADS && pthread_create(&threads[started], NULL, serve_visitors, shop) == 0)
        started++;
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return started == THREADS;
}

int main(void)
{
    struct shop *shop = checked(calloc(1, sizeof(*shop)));
    pthread_mutex_init(&shop->cache.lock, NULL);

    load_catalogue(&shop->catalogue);
    build_index(&shop->index, &shop->catalogue);
    shop->genres = divide_genre(GENRES_DEEP, 1);
    bool served = open_doors(shop);
    unsigned ink = print_cover_sheet();
    trim_cache(&shop->cache, CACHED_PAGES / 4);
    printf("bookshop: %d books, %u drops of ink, %s\n", BOOKS, ink,
           served ? "all visitors served" : "no threads to serve visitors");

    trim_cache(&shop->cache, 0);
    free(shop->index.slots);
    free_genre(shop->genres);
    free_catalogue(&shop->catalogue);
    free(shop);
    return served ? 0 : 1;
}
