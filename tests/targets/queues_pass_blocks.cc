/* queues_pass_blocks.cc: 16 threads hand blocks to each other through queues and free what comes.
 *
 * queues_pass_blocks ROUNDS: in each round a thread makes a block by one of nine functions, puts it
 * into a queue, takes one out of another queue and frees it, or first changes its size by realloc.
 * So an address is soon given out again by one thread that another is just giving back. Prints
 * "OBJECTS BYTES MADE": what make_block() and change_block() have allocated that is still in the
 * queues at the end, and how many blocks they have made at all, by the program's own counters; at
 * --rate=1 the profile says the same. */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <new>
#include <pthread.h>

namespace {

constexpr int thread_count = 16, queue_count = 8, queue_places = 256;

enum kind { from_malloc, from_new, from_new_array };

struct block {
    size_t size;
    kind made;
};

struct queue {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    block *places[queue_places];
    unsigned first, count;
};

queue queues[queue_count];
std::atomic<long> live_objects, live_bytes, made;
int rounds;

block *count(void *p, size_t size, kind how)
{
    block *b = static_cast<block *>(p);
    b->size = size;
    b->made = how;
    live_objects++;
    live_bytes += static_cast<long>(size);
    made++;
    return b;
}

__attribute__((noinline)) block *make_block(unsigned how, size_t size)
{
    void *p = nullptr;
    switch (how) {
    case 0: return count(calloc(1, size), size, from_malloc);
    case 1: return count(memalign(64, size), size, from_malloc);
    case 2: return count(aligned_alloc(256, size), size, from_malloc);
    case 3: return posix_memalign(&p, 32, size) == 0 ? count(p, size, from_malloc) : nullptr;
    case 4: return count(operator new(size), size, from_new);
    case 5: return count(operator new[](size), size, from_new_array);
    case 6: return count(operator new(size, std::nothrow), size, from_new);
    case 7: return count(reallocarray(nullptr, size, 1), size, from_malloc);
    default: return count(malloc(size), size, from_malloc);
    }
}

__attribute__((noinline)) block *change_block(block *b, size_t size)
{
    live_objects--;
    live_bytes -= static_cast<long>(b->size);
    return count(realloc(b, size), size, from_malloc);
}

void free_block(block *b)
{
    live_objects--;
    live_bytes -= static_cast<long>(b->size);
    if (b->made == from_new)
        operator delete(b);
    else if (b->made == from_new_array)
        operator delete[](b);
    else
        free(b);
}

/* Puts a block in, and takes the oldest out when half of the places are taken. */
block *exchange(queue *q, block *b)
{
    block *oldest = nullptr;
    pthread_mutex_lock(&q->lock);
    q->places[(q->first + q->count++) % queue_places] = b;
    if (q->count > queue_places / 2) {
        oldest = q->places[q->first++ % queue_places];
        q->count--;
    }
    pthread_mutex_unlock(&q->lock);
    return oldest;
}

void *work(void *seed)
{
    unsigned random = static_cast<unsigned>(reinterpret_cast<size_t>(seed));
    for (int i = 0; i < rounds; i++) {
        size_t size = sizeof(block) + static_cast<size_t>(rand_r(&random)) % 500;
        if (i % 500 == 0)
            size += 200000;
        block *b = make_block(static_cast<unsigned>(rand_r(&random)) % 9, size);
        b = exchange(&queues[static_cast<unsigned>(rand_r(&random)) % queue_count], b);
        if (b != nullptr && b->made == from_malloc && rand_r(&random) % 4 == 0)
            b = change_block(b, sizeof(block) + static_cast<size_t>(rand_r(&random)) % 3000);
        if (b != nullptr)
            free_block(b);
    }
    return nullptr;
}

} /* namespace */

int main(int, char **argv)
{
    rounds = atoi(argv[1]);
    pthread_t threads[thread_count];
    for (size_t i = 0; i < thread_count; i++)
        pthread_create(&threads[i], nullptr, work, reinterpret_cast<void *>(i + 1));
    for (pthread_t thread : threads)
        pthread_join(thread, nullptr);
    printf("%ld %ld %ld\n", live_objects.load(), live_bytes.load(), made.load());
    return 0;
}
