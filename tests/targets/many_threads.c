/* many_threads.c: very many threads, one after another, of which each hundredth leaks a block.
 *
 * many_threads THREADS: each allocates 1 KiB in allocate_block() and frees it; number 0, 100,
 * 200... keep theirs. Four at a time. Prints "Rss: KB", of its end, by /proc/self/smaps_rollup. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AT_ONCE = 4, LEAKING = 100 };

__attribute__((noinline)) static char *allocate_block(void)
{
    volatile char *block = malloc(1024);
    block[0] = 1;
    return (char *)block;
}

static void *work(void *number)
{
    char *block = allocate_block();
    if ((size_t)number % LEAKING != 0)
        free(block);
    return NULL;
}

static void print_memory(void)
{
    char text[2048];
    int file = open("/proc/self/smaps_rollup", O_RDONLY);
    ssize_t length = read(file, text, sizeof(text) - 1);
    close(file);
    text[length < 0 ? 0 : length] = '\0';
    const char *found = strstr(text, "Rss:");
    dprintf(1, "Rss: %ld\n", found == NULL ? -1 : atol(found + 4));
}

int main(int argc, char **argv)
{
    size_t threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    for (size_t made = 0; made < threads; made += AT_ONCE) {
        pthread_t thread[AT_ONCE];
        for (size_t i = 0; i < AT_ONCE; i++)
            if (pthread_create(&thread[i], &attributes, work, (void *)(made + i)) != 0)
                return 1;
        for (size_t i = 0; i < AT_ONCE; i++)
            pthread_join(thread[i], NULL);
    }
    print_memory();
    return 0;
}
