/* store_counters.c: the counters of a stack of the store as values of a profile. */
#include "cli/store_counters.h"

#include <stdbool.h>

static int64_t whole_objects(uint64_t objects_q16)
{
    uint64_t value = (uint64_t)store_whole(objects_q16);
    return (int64_t)((value >> 16) + ((value >> 15) & 1));
}

static double objects_of(uint64_t objects_q16)
{
    return (double)store_whole(objects_q16) / 65536.0;
}

/* At most limit: that catches a sum below zero, and one of which a killed process had written one
 * half only. */
static double wide_up_to(const struct store_wide *sum, double limit)
{
    double value = (double)sum->high * 0x1p64 + (double)sum->low;
    return value < limit ? value : limit;
}

/* Of an estimate that is a sum of parts b with variances b (b - s) at most: the square of the
 * sum. */
static void set_variances(double *bytes, double *objects, const struct store_variance *variance,
                          const struct store_counts *counts)
{
    double bytes_sum = (double)store_whole(counts->bytes);
    double objects_sum = objects_of(counts->objects_q16);
    *bytes = wide_up_to(&variance->bytes, bytes_sum * bytes_sum);
    *objects = wide_up_to(&variance->objects, objects_sum * objects_sum * 65536.0) / 65536.0;
}

static int64_t nanoseconds(uint64_t ticks, const struct store_time *time)
{
    double ns = (double)ticks * time->ns_of_tick;
    return ns < 9e18 ? (int64_t)ns : INT64_MAX;
}

static void set_lifetimes(struct profile_sample_extra *extra, const struct store_stack *stack,
                          const struct store_time *time)
{
    const struct store_lifetimes *lifetimes = &stack->lifetimes;
    double end = (double)time->end;
    extra->freed_objects =
        objects_of(stack->alloc.objects_q16) - objects_of(stack->inuse.objects_q16);
    if (extra->freed_objects < 0)
        extra->freed_objects = 0;
    extra->lifetime_sum = wide_up_to(&lifetimes->sum, extra->freed_objects * 65536.0 * end) /
                          65536.0 * time->ns_of_tick;
    if (lifetimes->shortest != 0)
        extra->lifetime_min = nanoseconds(lifetimes->shortest - 1, time);
    extra->lifetime_max = nanoseconds(lifetimes->longest, time);
    double temporary = objects_of(lifetimes->temporary_q16);
    double foreign = objects_of(lifetimes->foreign_q16);
    extra->temporary_objects = temporary < extra->freed_objects ? temporary : extra->freed_objects;
    extra->foreign_objects = foreign < extra->freed_objects ? foreign : extra->freed_objects;
    extra->live_objects = objects_of(stack->inuse.objects_q16);
    double born_now = (double)store_whole(stack->inuse.objects_q16) * end;
    double age = born_now - wide_up_to(&stack->born, born_now);
    extra->age_sum = age / 65536.0 * time->ns_of_tick;
}

static void set_pair(int64_t *values, enum store_value objects, const struct store_counts *counts)
{
    values[objects] = whole_objects(counts->objects_q16);
    values[objects + 1] = store_whole(counts->bytes);
}

struct store_time store_time_of(const struct store_header *header, const struct store_image *image)
{
    bool is_tsc = header->tick_kind == STORE_TICK_TSC && image->tsc_hz != 0;
    uint64_t end = is_tsc ? image->end_tsc : image->end_ns;
    return (struct store_time){
        .ns_of_tick = is_tsc ? 1e9 / (double)image->tsc_hz : 1,
        .end = end > header->origin_ticks ? end - header->origin_ticks : 0,
    };
}

void store_stack_values(const struct store_stack *stack, uint32_t epoch,
                        const struct store_time *time, int64_t *values,
                        struct profile_sample_extra *extra)
{
    /* The peak is what was saved at it, or what is in use when nothing changed since. */
    bool is_saved = stack->saved_epoch == epoch;
    const struct store_counts *peak = is_saved ? &stack->saved : &stack->inuse;
    const struct store_variance *peak_variance =
        is_saved ? &stack->saved_variance : &stack->inuse_variance;
    *extra = (struct profile_sample_extra){
        .alloc_samples = store_whole(stack->alloc.samples),
        .inuse_samples = store_whole(stack->inuse.samples),
        .peak_samples = store_whole(peak->samples),
    };
    set_pair(values, STORE_ALLOC_OBJECTS, &stack->alloc);
    set_pair(values, STORE_INUSE_OBJECTS, &stack->inuse);
    set_pair(values, STORE_PEAK_OBJECTS, peak);
    set_variances(&extra->alloc_space_variance, &extra->alloc_objects_variance,
                  &stack->alloc_variance, &stack->alloc);
    set_variances(&extra->inuse_space_variance, &extra->inuse_objects_variance,
                  &stack->inuse_variance, &stack->inuse);
    set_variances(&extra->peak_space_variance, &extra->peak_objects_variance, peak_variance, peak);
    set_lifetimes(extra, stack, time);
}
