/* deep_recursion.c: allocates 1000 bytes under as many frames of descend() as its argument says. */
#include <stdlib.h>

static void *volatile kept;

__attribute__((noinline)) static int descend(int frames)
{
    if (frames == 0) {
        kept = malloc(1000);
        return kept != NULL;
    }
    return descend(frames - 1) + 1;
}

int main(int argc, char **argv)
{
    return descend(argc > 1 ? atoi(argv[1]) : 10) == 0;
}
