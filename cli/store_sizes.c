/* store_sizes.c: what a process allocates by size class, added up from its threads' shards. */
#include "cli/store_sizes.h"

static struct store_size of_class(const struct store_sizes *sizes, uint32_t k)
{
    struct store_size sum = {0};
    for (uint32_t shard = 0; shard < STORE_SIZE_SHARDS; shard++) {
        sum.objects_q16 += sizes->of_class[shard][k].objects_q16;
        sum.bytes += sizes->of_class[shard][k].bytes;
    }
    return sum;
}

void store_sizes_sum(const struct store_sizes *sizes, struct size_histogram *histogram)
{
    *histogram = (struct size_histogram){0};
    for (uint32_t k = 0; k < STORE_SIZE_CLASSES; k++) {
        struct store_size sum = of_class(sizes, k);
        histogram->classes[k].objects = (sum.objects_q16 >> 16) + (sum.objects_q16 >> 15 & 1);
        histogram->classes[k].bytes = sum.bytes;
    }
}

uint64_t store_sizes_bytes(const struct store_sizes *sizes)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < STORE_SIZE_CLASSES; k++)
        bytes += of_class(sizes, k).bytes;
    return bytes;
}
