/* hook_sizes.c: adds to the histogram of sizes in the slot. */
#include "runtime/hook_sizes.h"

#include "proto/store_layout.h"
#include "runtime/hook_store.h"
#include "runtime/hook_thread.h"
#include "runtime/hook_weight.h"

void sizes_count(uint64_t size, uint64_t weight_q16)
{
    bool alone;
    uint32_t shard = thread_word(STORE_SIZE_SHARDS, &alone);
    struct store_size *size_class = &store.sizes->of_class[shard][store_size_class(size)];
    thread_add_u64(&size_class->objects_q16, weight_q16, alone);
    thread_add_u64(&size_class->bytes, weight_bytes(size, weight_q16), alone);
}
