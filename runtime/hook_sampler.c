/* hook_sampler.c: the cold half of the sampling decision: generators and gaps.
 *
 * Hook-safe. A thread's generator is splitmix64 (Steele, Lea, Flood 2014) started from the seed,
 * the fork ordinal and the thread's ordinal, so that a single-threaded program run twice with one
 * seed gives the same samples, and forked siblings give different ones. Addresses and times never
 * enter. */
#include "runtime/hook_sampler.h"

#include "runtime/hook_weight.h"

__thread uint64_t sampler_until;

/* Which configuration the thread's generator was made for; 0: none. */
static __thread uint32_t generator_configuration;
static __thread uint64_t generator_state;

static struct {
    uint64_t rate;
    uint64_t seed;
    uint32_t configuration; /* raised by each sampler_configure */
    uint32_t thread_ordinal;
} sampler;

static uint64_t mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
    return value ^ (value >> 31);
}

static uint64_t draw_gap(void)
{
    generator_state += 0x9e3779b97f4a7c15ull;
    return weight_gap_bytes(mix(generator_state), sampler.rate);
}

static void start_thread(void)
{
    generator_configuration = sampler.configuration;
    generator_state = mix(sampler.seed ^ mix(1 + shared_add_u32(&sampler.thread_ordinal, 1)));
}

bool sampler_hit(size_t size)
{
    if (sampler.rate <= 1) {
        sampler_until = sampler.rate == 1 ? 0 : INT64_MAX;
        return sampler.rate == 1;
    }
    uint64_t charge = size == 0 ? 1 : size;
    uint64_t gap;
    if (UNLIKELY(generator_configuration != sampler.configuration)) {
        start_thread();
        gap = draw_gap();
    } else {
        /* Only a request of 0 bytes comes here uncounted. */
        gap = size == 0 ? sampler_until : 0;
    }
    if (charge < gap) {
        sampler_until = gap - charge;
        return false;
    }
    sampler_until = draw_gap();
    return true;
}

void sampler_configure(uint64_t rate, uint64_t seed, uint32_t fork_ordinal)
{
    sampler.rate = rate;
    sampler.seed = mix(seed) ^ mix(~(uint64_t)fork_ordinal);
    sampler.thread_ordinal = 0;
    sampler.configuration++;
    sampler_restart_thread();
}

void sampler_restart_thread(void)
{
    generator_configuration = 0;
    sampler_until = 0;
}

uint64_t sampler_rate(void)
{
    return sampler.rate;
}
