/* thousand_stacks.c: allocates at many stacks, each of them known.
 *
 * thousand_stacks BITS COUNT RATE: stack number i, below 2^BITS and COUNT, has one frame bit_0 or
 * bit_1 for each bit of i (the highest outermost). There it allocates blocks of
 *
 *     size(i)  = 16 + i * 37 % RATE bytes
 *     count(i) = (30 + i % 50) * (RATE / size(i) + 2)
 *
 * and frees every second one at once. With RATE 0 it is one block of 100 bytes a stack, kept. */
#include <stdlib.h>

static void *volatile last;
static unsigned long rate;

__attribute__((noinline)) static void allocate(unsigned long stack)
{
    if (rate == 0) {
        last = malloc(100);
        return;
    }
    size_t size = 16 + stack * 37 % rate;
    unsigned long count = (30 + stack % 50) * (rate / size + 2);
    for (unsigned long i = 0; i < count; i++) {
        last = malloc(size);
        if (i % 2 == 1)
            free(last);
    }
}

static void bit_0(unsigned long stack, int bits);
static void bit_1(unsigned long stack, int bits);

static inline void descend(unsigned long stack, int bits)
{
    if (bits == 0)
        allocate(stack);
    else if (stack >> (bits - 1) & 1)
        bit_1(stack, bits - 1);
    else
        bit_0(stack, bits - 1);
}

__attribute__((noinline)) static void bit_0(unsigned long stack, int bits)
{
    descend(stack, bits);
}

__attribute__((noinline)) static void bit_1(unsigned long stack, int bits)
{
    descend(stack, bits);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    int bits = atoi(argv[1]);
    unsigned long count = strtoul(argv[2], NULL, 10);
    rate = strtoul(argv[3], NULL, 10);
    for (unsigned long stack = 0; stack < count && stack < 1ul << bits; stack++)
        descend(stack, bits);
    return 0;
}
