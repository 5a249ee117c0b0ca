/* report_sums.c: what a report adds up over samples, for each of its rows.
 *
 * Extras are doubles, and rounded only when they are shown: rounded one by one, many small stacks
 * would add up to another number. Files without extras, most of those from elsewhere, pay one test
 * a frame for them. */
#include "cli/report_sums.h"

#include "cli/wrapping.h"

static bool has_extra(const struct profile_sample_extra *extra)
{
    bool any = false;
#define LOOK_AT(type, name) any = any || extra->name > 0;
    PROFILE_SAMPLE_EXTRAS(LOOK_AT)
#undef LOOK_AT
    return any;
}

/* Finite, whatever the file says: so are products with a value, and sums of them. */
static double mean_age(const struct profile_sample_extra *extra, int64_t objects, int64_t oldest)
{
    double count = extra->live_objects > 0 ? extra->live_objects : (double)objects;
    if (objects <= 0 && extra->live_objects <= 0)
        return 0;
    double age = extra->age_sum / count;
    double limit = (double)(oldest > 0 ? oldest : INT64_MAX);
    return age < limit ? age : limit;
}

struct report_sums report_sums_of(const struct profile_sample *sample,
                                  const struct report_source_types *types)
{
    struct report_sums sums = {.value = sample->values[types->value]};
    if (types->objects >= 0)
        sums.objects = sample->values[types->objects];
    sums.has_extra = has_extra(&sample->extra);
    if (!sums.has_extra)
        return sums;
    sums.extra = sample->extra;
    sums.byte_age = (double)sums.value * mean_age(&sums.extra, sums.objects, types->oldest_age);
    return sums;
}

void report_sums_add(struct report_sums *sums, const struct report_sums *more)
{
    sums->value = wrapping_add(sums->value, more->value);
    sums->objects = wrapping_add(sums->objects, more->objects);
    if (!more->has_extra)
        return;
    sums->has_extra = true;
    sums->byte_age += more->byte_age;
    profile_extra_add(&sums->extra, &more->extra);
}

int64_t report_sums_rounded(double sum)
{
    return sum + 0.5 < 0x1p63 ? (int64_t)(sum + 0.5) : INT64_MAX;
}

int64_t report_sums_mean_lifetime(const struct report_sums *sums)
{
    if (!(sums->extra.freed_objects > 0))
        return 0;
    return report_sums_rounded(sums->extra.lifetime_sum / sums->extra.freed_objects);
}

int64_t report_sums_mean_age(const struct report_sums *sums)
{
    double age = sums->value != 0 ? sums->byte_age / (double)sums->value : 0;
    return age > 0 ? report_sums_rounded(age) : 0;
}
