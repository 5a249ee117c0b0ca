/* profile_facts.c: what a profile says about itself, as lines for people.
 *
 * Everything in a file may be wrong, or meant to be: numbers are read by decimal.h, texts written
 * by terminal_text.h, and a fact that cannot be read is not shown as one. */
#include "cli/profile_facts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "cli/decimal.h"
#include "cli/estimate.h"
#include "cli/machine_comments.h"
#include "cli/quantity.h"
#include "cli/report_errors.h"
#include "cli/report_sums.h"
#include "cli/saturating.h"
#include "cli/size_histogram.h"
#include "cli/store_losses.h"
#include "cli/terminal_text.h"
#include "cli/timeline.h"
#include "proto/hash_set.h"
#include "proto/profile.h"

#define LABEL_WIDTH 12

/* --- lines ----------------------------------------------------------------------------------- */

static void print_label(const char *label, FILE *stream)
{
    fprintf(stream, "%-*s  ", LABEL_WIDTH, label);
}

static void __attribute__((format(printf, 3, 4)))
print_fact(FILE *stream, const char *label, const char *format, ...)
{
    va_list arguments;
    print_label(label, stream);
    va_start(arguments, format);
    vfprintf(stream, format, arguments);
    va_end(arguments);
    fputc('\n', stream);
}

/* A fact whose text is from the file; none when it is empty. */
static void print_text(FILE *stream, const char *label, const char *text)
{
    if (text[0] == '\0')
        return;
    print_label(label, stream);
    terminal_text_write(text, stream);
    fputc('\n', stream);
}

/* --- the run --------------------------------------------------------------------------------- */

/* What people's comments begin with, and what such a line is called here. */
static const struct {
    const char *prefix, *label;
} spoken[] = {
    {"command: ", "command"},
    {"pid: ", "pid"},
    {"heapprof ", "written by"},
};

#define SPOKEN_COUNT (sizeof(spoken) / sizeof(spoken[0]))

/* The index in spoken of a comment, SPOKEN_COUNT for any other. */
static size_t spoken_index(const char *comment)
{
    size_t i = 0;
    while (i < SPOKEN_COUNT && strncmp(comment, spoken[i].prefix, strlen(spoken[i].prefix)) != 0)
        i++;
    return i;
}

static void print_spoken(const struct profile *profile, FILE *stream)
{
    for (size_t k = 0; k < SPOKEN_COUNT; k++)
        for (uint32_t i = 0; i < profile->comment_count; i++) {
            const char *comment = profile->comments[i];
            if (spoken_index(comment) != k)
                continue;
            bool is_ours = strcmp(spoken[k].prefix, "heapprof ") == 0;
            print_text(stream, spoken[k].label, comment + (is_ours ? 0 : strlen(spoken[k].prefix)));
            break;
        }
}

static void print_time(const struct profile *profile, FILE *stream)
{
    char text[QUANTITY_TEXT_SIZE];
    struct tm local;
    int64_t ns = profile->time_nanos;
    time_t seconds = (time_t)(ns / 1000000000 - (ns % 1000000000 < 0));
    if (ns != 0 && localtime_r(&seconds, &local) != NULL &&
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %Z", &local) != 0)
        print_fact(stream, "started", "%s", text);
    if (profile->duration_nanos > 0)
        print_fact(stream, "duration", "%s",
                   quantity_text(profile->duration_nanos, "nanoseconds", text));
}

/* When the profile was taken, where heapprof has written it. */
static void print_moment(const struct profile *profile, FILE *stream)
{
    uint64_t rate;
    if (!machine_comment_number(profile, "rate", &rate))
        return;
    bool is_running = strcmp(profile->default_sample_type, "inuse_space") == 0;
    print_fact(stream, "taken", "%s",
               is_running ? "while the program was running" : "at the end of the program");
}

static void print_sampling(const struct profile *profile, FILE *stream)
{
    char text[QUANTITY_TEXT_SIZE];
    uint64_t number;
    if (machine_comment_number(profile, "rate", &number) && number == 1)
        print_fact(stream, "rate", "1: every allocation");
    else if (machine_comment_number(profile, "rate", &number))
        print_fact(stream, "rate", "one sample in %s",
                   quantity_text(saturating_signed(number), "bytes", text));
    else if (profile->period > 0) {
        print_label("period", stream);
        terminal_text_write(quantity_text(profile->period, profile->period_type.unit, text),
                            stream);
        fputs(profile->period_type.type[0] != '\0' ? " of " : "", stream);
        terminal_text_write(profile->period_type.type, stream);
        fputc('\n', stream);
    }
    if (machine_comment_number(profile, "seed", &number))
        print_fact(stream, "seed", "%" PRIu64, number);
    if (machine_comment_number(profile, "fork", &number))
        print_fact(stream, "fork", "%" PRIu64 ", counted among the run's forked children", number);
    if (machine_comment_number(profile, "peak_after_ns", &number) && number != 0)
        print_fact(stream, "peak", "after %s",
                   quantity_text(saturating_signed(number), "nanoseconds", text));
    if (machine_comment_number(profile, "peak_rss", &number) && number != 0)
        print_fact(stream, "peak RSS", "%s",
                   quantity_text(saturating_signed(number), "bytes", text));
}

/* --- the figures ----------------------------------------------------------------------------- */

static void print_type(const struct profile *profile, int index, int name_width, FILE *stream)
{
    char text[ESTIMATE_TEXT_SIZE];
    const struct profile_value_type *type = &profile->sample_types[index];
    struct report_errors errors = report_errors_find(profile, index);
    struct report_sums sums = {0};
    for (size_t i = 0; i < profile->sample_count; i++) {
        struct report_sums one = report_sums_of(
            profile->samples[i], &(struct report_source_types){.value = index, .objects = -1});
        one.value = 0; /* wraps around */
        report_sums_add(&sums, &one);
        sums.value = saturating_add(sums.value, profile->samples[i]->values[index]);
    }
    struct estimate total = {.value = sums.value};
    if (!errors.missing) {
        total.variance = report_errors_variance(&errors, &sums);
        total.samples = report_errors_samples(&errors, &sums);
    }
    print_label(index == 0 ? "totals" : "", stream);
    terminal_text_write(type->type, stream);
    fprintf(stream, "%*s  ", name_width - (int)strlen(type->type), "");
    terminal_text_write(estimate_text(&total, type->unit, text), stream);
    if (index == profile_sample_type_index(profile, NULL))
        fputs(" (shown by default)", stream);
    fputc('\n', stream);
}

static void print_types(const struct profile *profile, FILE *stream)
{
    int width = 0;
    for (uint32_t i = 0; i < profile->sample_type_count; i++) {
        size_t length = strlen(profile->sample_types[i].type);
        if (length < 32 && (int)length > width)
            width = (int)length;
    }
    for (uint32_t i = 0; i < profile->sample_type_count; i++)
        print_type(profile, (int)i, width, stream);
}

/* --- the contents ---------------------------------------------------------------------------- */

static bool same_stack(const void *item, const void *wanted)
{
    const struct profile_sample *a = item, *b = wanted;
    return a->location_count == b->location_count &&
           (a->location_count == 0 ||
            memcmp(a->locations, b->locations, a->location_count * sizeof(*a->locations)) == 0);
}

static size_t count_stacks(const struct profile *profile)
{
    struct hash_set set;
    hash_set_init(&set);
    for (size_t i = 0; i < profile->sample_count; i++) {
        struct profile_sample *sample = profile->samples[i];
        uint64_t hash = hash_set_hash(&set, sample->locations,
                                      sample->location_count * sizeof(*sample->locations));
        if (!hash_set_find(&set, hash, same_stack, sample))
            hash_set_add(&set, hash, sample);
    }
    size_t count = set.count;
    hash_set_done(&set);
    return count;
}

static void print_mappings(const struct profile *profile, FILE *stream)
{
    for (uint32_t i = 0; i < profile->mapping_count; i++) {
        const struct profile_mapping *mapping = profile->mappings[i];
        print_label("", stream);
        fprintf(stream, "%" PRIx64 "-%" PRIx64 " ", mapping->memory_start, mapping->memory_limit);
        terminal_text_write(mapping->filename[0] != '\0' ? mapping->filename : "(no file)", stream);
        if (mapping->build_id[0] != '\0') {
            fputs(" build id ", stream);
            terminal_text_write(mapping->build_id, stream);
        }
        fputc('\n', stream);
    }
}

static void print_contents(const struct profile *profile, bool is_verbose, FILE *stream)
{
    uint64_t samples;
    uint32_t with_build_id = 0;
    size_t stacks = count_stacks(profile);
    for (uint32_t i = 0; i < profile->mapping_count; i++)
        with_build_id += profile->mappings[i]->build_id[0] != '\0';
    if (machine_comment_number(profile, "samples", &samples))
        print_fact(stream, "samples", "%" PRIu64, samples);
    if (stacks == profile->sample_count)
        print_fact(stream, "stacks", "%zu", stacks);
    else
        print_fact(stream, "stacks", "%zu, with their labels %zu", stacks, profile->sample_count);
    print_fact(stream, "locations", "%" PRIu32, profile->location_count);
    print_fact(stream, "functions", "%" PRIu32, profile->function_count);
    print_fact(stream, "mappings", "%" PRIu32 ", %" PRIu32 " with a build id",
               profile->mapping_count, with_build_id);
    if (is_verbose)
        print_mappings(profile, stream);
}

/* --- losses ---------------------------------------------------------------------------------- */

/* "NAME COUNT BYTES", the value of a comment. */
static bool print_loss(const char *text, const char *label, FILE *stream)
{
    char bytes_text[QUANTITY_TEXT_SIZE];
    uint64_t count, bytes;
    size_t length = strcspn(text, " ");
    const char *at = text + length;
    if (length == 0 || *at++ != ' ' || !decimal_read(&at, &count) || *at++ != ' ' ||
        !decimal_read(&at, &bytes) || *at != '\0')
        return false;
    print_label(label, stream);
    fprintf(stream, "%" PRIu64 " ", count);
    const char *words = store_loss_words(text, length);
    for (size_t i = 0; words == NULL && i < length; i++)
        fputc(text[i] > ' ' && text[i] < 0x7f ? text[i] : '?', stream);
    fputs(words ? words : "", stream);
    if (bytes != 0)
        fprintf(stream, " (%s)", quantity_text(saturating_signed(bytes), "bytes", bytes_text));
    fputc('\n', stream);
    return true;
}

static void print_losses(const struct profile *profile, FILE *stream)
{
    static const char prefix[] = "# loss ";
    const char *label = "lost";
    uint64_t damaged;
    for (uint32_t i = 0; i < profile->comment_count; i++)
        if (strncmp(profile->comments[i], prefix, strlen(prefix)) == 0 &&
            print_loss(profile->comments[i] + strlen(prefix), label, stream))
            label = "";
    if (machine_comment_number(profile, "damaged_stacks", &damaged))
        print_fact(stream, label, "%" PRIu64 " stacks that the program has overwritten in part",
                   damaged);
}

/* --- comments -------------------------------------------------------------------------------- */

/* Keys whose values are shown in words or pictures, and are long. */
static bool is_long(const char *comment)
{
    static const char *const keys[] = {"# " SIZE_HISTOGRAM_KEY " ", "# " TIMELINE_KEY " "};
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (strncmp(comment, keys[i], strlen(keys[i])) == 0)
            return true;
    return false;
}

static void print_comments(const struct profile *profile, bool is_verbose, FILE *stream)
{
    const char *label = "comments";
    for (uint32_t i = 0; i < profile->comment_count; i++) {
        const char *comment = profile->comments[i];
        bool is_for_programs = comment[0] == '#';
        if (comment[0] == '\0' || spoken_index(comment) < SPOKEN_COUNT || is_long(comment) ||
            (is_for_programs && !is_verbose))
            continue;
        print_text(stream, label, comment);
        label = "";
    }
}

void profile_facts_print(const struct profile *profile, const char *path, bool is_verbose,
                         FILE *stream)
{
    print_text(stream, "file", strcmp(path, "-") == 0 ? "standard input" : path);
    if (profile->mapping_count > 0) {
        print_text(stream, "program", profile->mappings[0]->filename);
        print_text(stream, "build id", profile->mappings[0]->build_id);
    }
    print_spoken(profile, stream);
    print_time(profile, stream);
    print_moment(profile, stream);
    print_sampling(profile, stream);
    print_types(profile, stream);
    print_contents(profile, is_verbose, stream);
    print_losses(profile, stream);
    print_comments(profile, is_verbose, stream);
}
