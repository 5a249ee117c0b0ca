/* hook_sampler.c: the cold half of the sampling decision: generators and gaps.
 *
 * Hook-safe. A thread's generator is splitmix64 (Steele, Lea, Flood 2014) started from the seed,
 * the fork ordinal and the thread's ordinal, so that a single-threaded program run twice with one
 * seed gives the same samples, and forked siblings give different ones. Addresses and times never
 * enter. */
#include "runtime/hook_sampler.h"

#include "runtime/hook_weight.h"

__thread int64_t sampler_until;
void (*sampler_on_thread_start)(void);

/* Which configuration the thread's generator was made for; 0: none. */
static __thread uint32_t generator_configuration;
static __thread uint64_t generator_state;
/* The gap that is running, bytes, and the rate that it was drawn at. */
static __thread int64_t gap;
static __thread uint64_t gap_rate;
static __thread uint64_t rate_of_hit;

static struct {
    uint64_t rate;
    uint64_t seed;
    uint32_t configuration; /* raised by each sampler_configure */
    uint32_t thread_ordinal;
    uint64_t *bytes, *threads; /* in the store; NULL: nothing is counted */
    const _Atomic uint32_t *are_own;
    uint64_t early_bytes; /* counted while they were not */
} sampler;

static uint64_t mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
    return value ^ (value >> 31);
}

static int64_t draw_gap(void)
{
    generator_state += 0x9e3779b97f4a7c15ull;
    gap = (int64_t)weight_gap_bytes(mix(generator_state), sampler.rate);
    gap_rate = sampler.rate;
    return gap;
}

static bool counts_are_own(void)
{
    return atomic_load_explicit(sampler.are_own, memory_order_relaxed) == 1;
}

static void count_bytes(uint64_t bytes)
{
    if (sampler.bytes != NULL)
        shared_add_u64(counts_are_own() ? sampler.bytes : &sampler.early_bytes, bytes);
}

/* Threads that start early start again with the process' own counts. */
static void count_threads(uint64_t more)
{
    if (sampler.threads != NULL && counts_are_own())
        shared_add_u64(sampler.threads, more);
}

static void start_thread(void)
{
    generator_configuration = sampler.configuration;
    generator_state = mix(sampler.seed ^ mix(1 + shared_add_u32(&sampler.thread_ordinal, 1)));
    count_threads(1);
    if (sampler_on_thread_start != NULL)
        sampler_on_thread_start();
}

/* The request of charge bytes is the one that until bytes of the running gap led to. */
static bool take_sample(int64_t until, int64_t charge)
{
    count_bytes((uint64_t)(gap - until) + (uint64_t)charge);
    rate_of_hit = gap_rate;
    sampler_until = draw_gap();
    return true;
}

bool sampler_hit(size_t size)
{
    if (sampler.rate <= 1) {
        sampler_until = sampler.rate == 1 ? 0 : INT64_MAX;
        rate_of_hit = 1;
        return sampler.rate == 1 && size <= PTRDIFF_MAX;
    }
    if (UNLIKELY(size > PTRDIFF_MAX))
        return false;
    int64_t charge = size == 0 ? 1 : (int64_t)size;
    /* As it was before this request, of which only an empty one has not been taken off yet. */
    int64_t until = size == 0 ? sampler_until : sampler_until + charge;
    if (UNLIKELY(generator_configuration != sampler.configuration))
        start_thread();
    else if (LIKELY(until > 0) && charge >= until)
        return take_sample(until, charge);
    /* A new thread, or a signal handler inside a request that is being decided: what is left to the
     * next sample is exponential there as anywhere else. */
    if (until <= 0)
        until = draw_gap();
    if (charge >= until)
        return take_sample(until, charge);
    sampler_until = until - charge;
    return false;
}

uint64_t sampler_rate_of_hit(void)
{
    return rate_of_hit;
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

void sampler_count_in(uint64_t *bytes, uint64_t *threads, const _Atomic uint32_t *are_own)
{
    sampler.bytes = bytes;
    sampler.threads = threads;
    sampler.are_own = are_own;
    uint64_t early = __atomic_exchange_n(&sampler.early_bytes, 0, __ATOMIC_RELAXED);
    if (bytes != NULL)
        shared_add_u64(bytes, early);
}

void sampler_settle(void)
{
    int64_t until = sampler_until;
    if (sampler.rate <= 1 || generator_configuration != sampler.configuration || until <= 0 ||
        until > gap)
        return;
    count_bytes((uint64_t)(gap - until));
    count_threads(UINT64_MAX);
    gap = until;
    generator_configuration = 0;
}
