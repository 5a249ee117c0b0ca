/* report_errors.c: how far off the figures of a report may be.
 *
 * Objects and bytes of one stack have both an error or both none. So a file that has variances for
 * the bytes alone, as early versions wrote it, is one that does not say how exact its objects are,
 * and not one that is exact. */
#include "cli/report_errors.h"

#include "cli/machine_comments.h"
#include "cli/report_sums.h"
#include "cli/standard_error.h"
#include "proto/profile.h"

#include <string.h>

#define WORTH_SHOWING 0.01

#define EXTRA(field) offsetof(struct profile_sample_extra, field)

static const struct error_fields {
    const char *type;
    size_t variance;
    size_t other_variance; /* of the objects for bytes, of the bytes for objects */
    size_t samples;
} heap_types[] = {
#define HEAP_TYPE(when, what, other)                                                               \
    {#when "_" #what, EXTRA(when##_##what##_variance), EXTRA(when##_##other##_variance),           \
     EXTRA(when##_samples)},
    HEAP_TYPE(alloc, objects, space) HEAP_TYPE(alloc, space, objects)
        HEAP_TYPE(inuse, objects, space) HEAP_TYPE(inuse, space, objects)
            HEAP_TYPE(peak, objects, space) HEAP_TYPE(peak, space, objects)
#undef HEAP_TYPE
};

static double double_at(const struct profile_sample_extra *extra, size_t offset)
{
    double value;
    memcpy(&value, (const char *)extra + offset, sizeof(value));
    return value;
}

static int64_t integer_at(const struct profile_sample_extra *extra, size_t offset)
{
    int64_t value;
    memcpy(&value, (const char *)extra + offset, sizeof(value));
    return value;
}

static const struct error_fields *fields_of(const char *type)
{
    for (size_t i = 0; i < sizeof(heap_types) / sizeof(heap_types[0]); i++)
        if (strcmp(heap_types[i].type, type) == 0)
            return &heap_types[i];
    return NULL;
}

/* "# rate 1", and no other rate: of profiles that were merged, pprof keeps the largest period. */
static bool is_exact(const struct profile *profile)
{
    uint64_t rate;
    return machine_comment_number(profile, "rate", &rate) && rate == 1 && profile->period <= 1;
}

/* Whether the samples carry errors; where there is nothing to have an error, they do. */
static bool has_errors(const struct profile *profile, int type, const struct error_fields *fields)
{
    bool has_value = false, has_samples = false, has_own = false, has_other = false;
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct profile_sample *sample = profile->samples[i];
        has_value = has_value || sample->values[type] != 0;
        has_samples = has_samples || integer_at(&sample->extra, fields->samples) > 0;
        has_own = has_own || double_at(&sample->extra, fields->variance) > 0;
        has_other = has_other || double_at(&sample->extra, fields->other_variance) > 0;
    }
    return has_own || !has_value || (has_samples && !has_other);
}

struct report_errors report_errors_find(const struct profile *profile, int sample_type_index)
{
    const struct error_fields *fields = fields_of(profile->sample_types[sample_type_index].type);
    if (fields == NULL)
        return (struct report_errors){.missing = "only bytes and objects of the heap have errors"};
    struct report_errors errors = {
        .is_exact = is_exact(profile),
        .variance = fields->variance,
        .samples = fields->samples,
    };
    if (!errors.is_exact && !has_errors(profile, sample_type_index, fields))
        errors.missing = "this file carries none of this type";
    return errors;
}

double report_errors_variance(const struct report_errors *errors, const struct report_sums *sums)
{
    return errors->is_exact ? 0 : double_at(&sums->extra, errors->variance);
}

int64_t report_errors_samples(const struct report_errors *errors, const struct report_sums *sums)
{
    return integer_at(&sums->extra, errors->samples);
}

bool report_errors_is_bound(const struct report_errors *errors, const struct report_sums *sums)
{
    int64_t samples = report_errors_samples(errors, sums);
    if (errors->is_exact || (sums->value == 0 && samples == 0))
        return false;
    return samples < STANDARD_ERROR_ENOUGH_SAMPLES;
}

bool report_errors_matter(const struct report_errors *errors, const struct report_sums *sums)
{
    double value = (double)sums->value;
    return standard_error_twice(report_errors_variance(errors, sums)) >
           WORTH_SHOWING * (value < 0 ? -value : value);
}
