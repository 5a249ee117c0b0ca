/* leak_report.c: what is in use, as text, by stack, the largest first. */
#include "cli/leak_report.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "cli/estimate.h"
#include "cli/leak_stacks.h"
#include "cli/machine_comments.h"
#include "cli/quantity.h"
#include "cli/source_path.h"
#include "cli/suppressions.h"
#include "cli/terminal_text.h"
#include "proto/profile.h"

/* One report being printed. */
struct printer {
    FILE *stream;
    const struct leak_stacks *leaks;
    const struct profile *profile;
    const struct suppressions *suppressions;
    const struct leak_report_options *options;
};

struct leak_report_options leak_report_options_default(void)
{
    return (struct leak_report_options){.stack_count = 20, .frame_count = 32};
}

static const char *plural(int64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

/* "8MB ± 1MB", and " in 12 objects" where the profile counts them. */
static void print_sum(const struct printer *printer, const struct leak_sum *sum)
{
    char text[ESTIMATE_TEXT_SIZE];
    struct estimate bytes = {sum->bytes, sum->variance, sum->samples};
    terminal_text_write(estimate_text(&bytes, printer->leaks->unit, text), printer->stream);
    if (printer->leaks->has_objects)
        fprintf(printer->stream, " in %" PRId64 " %s", sum->objects,
                plural(sum->objects, "object", "objects"));
}

static void print_sum_of_stacks(const struct printer *printer, const struct leak_sum *sum)
{
    if (sum->stacks == 0) {
        fputs("nothing", printer->stream);
        return;
    }
    print_sum(printer, sum);
    fprintf(printer->stream, ", %zu %s", sum->stacks,
            plural((int64_t)sum->stacks, "stack", "stacks"));
}

/* --- the head -------------------------------------------------------------------------------- */

/* What kind of moment the profile is of, as far as it says. */
static const char *moment_of(const struct profile *profile)
{
    uint64_t rate;
    if (strcmp(profile->default_sample_type, "peak_space") == 0)
        return "live at exit";
    if (machine_comment_number(profile, "rate", &rate))
        return "in use while the program was running";
    return "in use when the profile was taken";
}

/* "app, pid 4711" */
static void print_program(const struct printer *printer)
{
    const struct profile *profile = printer->profile;
    bool any = false;
    if (profile->mapping_count > 0 && profile->mappings[0]->filename[0] != '\0') {
        size_t length;
        const char *base = source_path_base(profile->mappings[0]->filename, &length);
        char name[4096];
        snprintf(name, sizeof(name), "%.*s", (int)(length < sizeof(name) ? length : 0), base);
        terminal_text_write(name, printer->stream);
        any = true;
    }
    for (uint32_t i = 0; i < profile->comment_count; i++) {
        if (strncmp(profile->comments[i], "pid: ", 5) != 0)
            continue;
        fputs(any ? ", pid " : "pid ", printer->stream);
        terminal_text_write(profile->comments[i] + 5, printer->stream);
        any = true;
        break;
    }
    if (any)
        fputc('\n', printer->stream);
}

/* Leaks below the sampling rate are likely not to be there at all. */
static void print_rate(const struct printer *printer)
{
    char text[QUANTITY_TEXT_SIZE];
    const struct profile *profile = printer->profile;
    bool is_space = strcmp(profile->period_type.type, "space") == 0;
    uint64_t rate;
    if (!is_space || profile->period <= 1)
        return;
    fputs("one sample in ", printer->stream);
    terminal_text_write(quantity_text(profile->period, profile->period_type.unit, text),
                        printer->stream);
    fputs(": estimates; smaller leaks may be missing", printer->stream);
    if (machine_comment_number(profile, "rate", &rate))
        fputs(" (--rate=1 finds all)", printer->stream);
    fputc('\n', printer->stream);
}

static void print_head(const struct printer *printer)
{
    print_program(printer);
    fprintf(printer->stream, "%s: ", moment_of(printer->profile));
    print_sum_of_stacks(printer, &printer->leaks->total);
    if (printer->suppressions) {
        fputs("; suppressed: ", printer->stream);
        print_sum_of_stacks(printer, &printer->leaks->suppressed);
    }
    fputc('\n', printer->stream);
    print_rate(printer);
}

/* --- stacks ---------------------------------------------------------------------------------- */

static void print_frames(const struct printer *printer, const struct leak_stack *stack)
{
    uint64_t limit = printer->options->frame_count;
    uint32_t shown = limit != 0 && limit < stack->depth ? (uint32_t)limit : stack->depth;
    for (uint32_t i = 0; i < shown; i++) {
        fprintf(printer->stream, "    #%u ", i);
        terminal_text_write(printer->leaks->texts.texts[stack->frames[i]]->bytes, printer->stream);
        fputc('\n', printer->stream);
    }
    if (shown < stack->depth)
        fprintf(printer->stream, "    and %u more %s\n", stack->depth - shown,
                plural(stack->depth - shown, "frame", "frames"));
}

static void print_stack(const struct printer *printer, const struct leak_stack *stack)
{
    char text[QUANTITY_TEXT_SIZE];
    const struct leak_sum *sum = &stack->sum;
    fputc('\n', printer->stream);
    print_sum(printer, sum);
    quantity_percent(sum->bytes, printer->leaks->total.bytes, text);
    fprintf(printer->stream, ", %s", text + strspn(text, " "));
    double age = sum->live_objects > 0 ? sum->age_sum / sum->live_objects : 0;
    if (age >= 1 && age < 0x1p63)
        fprintf(printer->stream, ", mean age %s", quantity_text((int64_t)age, "nanoseconds", text));
    fputc('\n', printer->stream);
    print_frames(printer, stack);
}

static bool is_shown(const struct printer *printer, size_t index)
{
    const struct leak_report_options *options = printer->options;
    return (options->stack_count == 0 || index < options->stack_count) &&
           (uint64_t)printer->leaks->stacks[index]->sum.bytes >= options->min_bytes;
}

static void print_stacks(const struct printer *printer)
{
    struct leak_sum rest = {0};
    size_t shown = 0;
    while (shown < printer->leaks->count && is_shown(printer, shown))
        print_stack(printer, printer->leaks->stacks[shown++]);
    for (size_t i = shown; i < printer->leaks->count; i++)
        leak_sum_add(&rest, &printer->leaks->stacks[i]->sum);
    if (rest.stacks == 0)
        return;
    fputs("\nnot shown: ", printer->stream);
    print_sum_of_stacks(printer, &rest);
    fputc('\n', printer->stream);
}

/* --- suppressions ---------------------------------------------------------------------------- */

static void print_used(const struct printer *printer)
{
    const struct leak_stacks *leaks = printer->leaks;
    if (leaks->suppressed.stacks == 0)
        return;
    fputs("\nsuppressions used:\n", printer->stream);
    for (size_t i = 0; i < printer->suppressions->count; i++) {
        if (leaks->used[i].stacks == 0)
            continue;
        fputs("    leak:", printer->stream);
        terminal_text_write(printer->suppressions->items[i].pattern, printer->stream);
        fputs("  ", printer->stream);
        print_sum_of_stacks(printer, &leaks->used[i]);
        fputc('\n', printer->stream);
    }
}

static void print_unused(const struct printer *printer)
{
    bool any = false;
    for (size_t i = 0; i < printer->suppressions->count; i++) {
        if (printer->leaks->used[i].stacks != 0)
            continue;
        if (!any)
            fputs("\nsuppressions that matched nothing:\n", printer->stream);
        any = true;
        fputs("    ", printer->stream);
        terminal_text_write(printer->suppressions->path, printer->stream);
        fprintf(printer->stream, ":%zu: leak:", printer->suppressions->items[i].line);
        terminal_text_write(printer->suppressions->items[i].pattern, printer->stream);
        fputc('\n', printer->stream);
    }
}

void leak_report_print(const struct leak_stacks *leaks, const struct profile *profile,
                       const struct suppressions *suppressions,
                       const struct leak_report_options *options, FILE *stream)
{
    const struct printer printer = {
        .stream = stream,
        .leaks = leaks,
        .profile = profile,
        .suppressions = suppressions,
        .options = options,
    };
    print_head(&printer);
    print_stacks(&printer);
    if (suppressions) {
        print_used(&printer);
        print_unused(&printer);
    }
}
