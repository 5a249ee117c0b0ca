/* summary.c: what a run says at its end.
 *
 * The numbers are estimates with a known error: two standard errors are printed beside them, the
 * root of the summed variances (Horvitz-Thompson; the samples are independent). At a rate of 1
 * they are exact and stand alone. */
#include "cli/summary.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/allocator_choice.h"
#include "cli/collector_jobs.h"
#include "cli/collector_proc.h"
#include "cli/counted.h"
#include "cli/estimate.h"
#include "cli/quantity.h"
#include "cli/saturating.h"
#include "cli/store_losses.h"
#include "cli/terminal_text.h"
#include "proto/arena.h"

/* Followed processes' files that are listed one by one. */
enum { FILES_LISTED = 8 };

static void __attribute__((format(printf, 3, 4)))
row(FILE *stream, const char *what, const char *format, ...)
{
    fprintf(stream, "  %-13s ", what);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stream, format, arguments);
    va_end(arguments);
    fputc('\n', stream);
}

static const char *nanoseconds(uint64_t ns, char *text)
{
    return quantity_text(ns > INT64_MAX ? INT64_MAX : (int64_t)ns, "nanoseconds", text);
}

static void print_bytes(FILE *stream, const char *what, int64_t bytes, double variance,
                        uint64_t samples, const char *after)
{
    char text[ESTIMATE_TEXT_SIZE];
    struct estimate estimate = {bytes, variance, saturating_signed(samples)};
    row(stream, what, "%s%s", estimate_text(&estimate, "bytes", text), after);
}

/* How far off the estimate of what was allocated is. A forked child's includes what its parent
 * had; that is not the command's, which is whose totals are printed. */
static void print_counted(FILE *stream, const struct summary *summary,
                          const struct store_totals *totals)
{
    char text[COUNTED_TEXT_SIZE];
    struct counted counted = {
        .bytes = totals->counted_bytes,
        .threads = totals->counted_threads,
        .rate = summary->rate,
        .estimate = totals->values[STORE_ALLOC_SPACE],
        .variance = totals->alloc_variance,
        .lost = totals->loss_bytes[STORE_LOSS_RANGE_FULL],
    };
    if (summary->rate != 1 && totals->samples != 0)
        row(stream, "counted", "%s", counted_text(&counted, text));
}

static void print_losses(FILE *stream, const struct store_totals *totals)
{
    const char *what = "lost";
    for (int i = 0; i < STORE_LOSS_COUNT; i++) {
        if (totals->losses[i] == 0)
            continue;
        char bytes[QUANTITY_TEXT_SIZE];
        if (totals->loss_bytes[i] != 0 && totals->loss_bytes[i] <= INT64_MAX)
            row(stream, what, "%" PRIu64 " %s (%s)", totals->losses[i], store_loss_texts[i].words,
                quantity_text((int64_t)totals->loss_bytes[i], "bytes", bytes));
        else
            row(stream, what, "%" PRIu64 " %s", totals->losses[i], store_loss_texts[i].words);
        what = "";
    }
    if (totals->damaged_stacks != 0)
        row(stream, what, "%u stacks that the program has overwritten in part",
            totals->damaged_stacks);
}

/* What the program ran on, where it was not what it would run on alone, and what that had. */
static void print_allocator(FILE *stream, const struct allocator_choice *allocator,
                            const struct store_totals *totals)
{
    char now[QUANTITY_TEXT_SIZE], most[QUANTITY_TEXT_SIZE];
    if (allocator->library[0] == '\0' && !allocator->is_private)
        return;
    if (allocator->is_private && totals->mimalloc_most_bytes != 0) {
        row(stream, "allocator", "%s, %s committed, at most %s", allocator->name,
            quantity_text(saturating_signed(totals->mimalloc_bytes), "bytes", now),
            quantity_text(saturating_signed(totals->mimalloc_most_bytes), "bytes", most));
        return;
    }
    fprintf(stream, "  %-13s %s", "allocator", allocator->name ? allocator->name : "");
    if (allocator->library[0] != '\0') {
        fputs(allocator->name ? " (" : "", stream);
        terminal_text_write(allocator->library, stream);
        fputs(allocator->name ? ")" : "", stream);
    }
    fputc('\n', stream);
}

static void print_totals(FILE *stream, const struct summary *summary,
                         const struct store_totals *totals)
{
    char text[QUANTITY_TEXT_SIZE], after[QUANTITY_TEXT_SIZE + 16] = "";
    if (totals->peak_after_ns != 0)
        snprintf(after, sizeof(after), ", after %s", nanoseconds(totals->peak_after_ns, text));
    if (totals->samples != 0 || summary->rate == 1) {
        print_bytes(stream, "peak heap", totals->values[STORE_PEAK_SPACE], totals->peak_variance,
                    totals->peak_samples, after);
        print_bytes(stream, "allocated", totals->values[STORE_ALLOC_SPACE], totals->alloc_variance,
                    totals->samples, "");
        print_counted(stream, summary, totals);
        print_bytes(stream, "still in use", totals->values[STORE_INUSE_SPACE],
                    totals->inuse_variance, totals->inuse_samples, "");
    }
    if (totals->peak_rss != 0)
        row(stream, "peak RSS", "%s",
            quantity_text(saturating_signed(totals->peak_rss), "bytes", text));
    print_allocator(stream, summary->allocator, totals);
    int64_t rate = summary->rate > INT64_MAX ? INT64_MAX : (int64_t)summary->rate;
    if (rate == 1)
        row(stream, "samples", "%" PRIu64 " (every allocation)", totals->samples);
    else if (totals->samples == 0)
        row(stream, "samples", "none: it allocated too little for one in %s; see --rate",
            quantity_text(rate, "bytes", text));
    else
        row(stream, "samples", "%" PRIu64 " (one in %s)", totals->samples,
            quantity_text(rate, "bytes", text));
    print_losses(stream, totals);
}

static const struct job *command_file(const struct summary *summary)
{
    for (const struct job *job = summary->files; job; job = job->next)
        if (job->is_command)
            return job;
    return NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int64_t peak_of(const struct job *job)
{
    return job->totals.values[STORE_PEAK_SPACE];
}

/* By peak, the largest first; by pid where these are equal. */
static int compare_peaks(const void *a, const void *b)
{
    const struct job *first = *(const struct job *const *)a;
    const struct job *second = *(const struct job *const *)b;
    if (peak_of(first) != peak_of(second))
        return peak_of(first) > peak_of(second) ? -1 : 1;
    return first->pid < second->pid ? -1 : first->pid > second->pid;
}

/* The written files but the command's, sorted; *count of them. The caller frees the array. */
static const struct job **other_files(const struct summary *summary, const struct job *command,
                                      size_t *count)
{
    *count = 0;
    for (const struct job *job = summary->files; job; job = job->next)
        *count += job != command && job->path;
    const struct job **files = heap_alloc((*count + 1) * sizeof(*files));
    size_t filled = 0;
    for (const struct job *job = summary->files; job; job = job->next)
        if (job != command && job->path)
            files[filled++] = job;
    qsort(files, *count, sizeof(*files), compare_peaks);
    return files;
}

/* The command's file first, then the others. */
static void print_files(FILE *stream, const struct job *command, const struct job *const *others,
                        size_t count)
{
    const char *what = "wrote";
    if (command && command->path) {
        fprintf(stream, "  %-13s ", what);
        terminal_text_write(strcmp(command->path, "-") == 0 ? "standard output" : command->path,
                            stream);
        fputc('\n', stream);
        what = "";
    }
    for (size_t i = 0; i < count && i < FILES_LISTED; i++) {
        char peak[QUANTITY_TEXT_SIZE];
        fprintf(stream, "  %-13s ", what);
        terminal_text_write(others[i]->path, stream);
        fputs(" (", stream);
        terminal_text_write(base_name(others[i]->executable), stream);
        fprintf(stream, ", peak %s)\n", quantity_text(peak_of(others[i]), "bytes", peak));
        what = "";
    }
    if (count > FILES_LISTED)
        row(stream, "", "and %zu more", count - FILES_LISTED);
}

static void print_counts(FILE *stream, const struct summary *summary)
{
    const struct collector_counts *counts = &summary->counts;
    if (counts->without_slot != 0)
        row(stream, "not profiled", "%u %s: all %u slots were taken", counts->without_slot,
            counts->without_slot == 1 ? "process" : "processes", counts->slots);
    if (counts->left_out != 0)
        row(stream, "not written", "%u profiles of child processes: the output is no file",
            counts->left_out);
    if (summary->living != 0)
        row(stream, "still running", "%u %s; profiles are written as they end", summary->living,
            summary->living == 1 ? "child process" : "child processes");
    else if (summary->has_unseen)
        row(stream, "still running", "child processes; profiles are written as they end");
}

static void print_details(FILE *stream, const struct summary *summary, const struct job *command)
{
    const struct collector_counts *counts = &summary->counts;
    char text[QUANTITY_TEXT_SIZE];
    row(stream, "processes", "%u images and %u forked children profiled", counts->images,
        counts->forked);
    row(stream, "slots", "%u of %u taken at most", counts->slots_at_once, counts->slots);
    if (counts->wrong_version != 0)
        row(stream, "refused", "%u processes with another version of the runtime",
            counts->wrong_version);
    if (counts->strangers != 0)
        row(stream, "refused", "%u processes of other users", counts->strangers);
    if (!command)
        return;
    row(stream, "stacks", "%u in %u modules", command->totals.stack_count,
        command->totals.module_count);
    if (command->found.total != 0)
        row(stream, "names", "%" PRIu64 " of %" PRIu64 " addresses, %" PRIu64 " with file and line",
            command->found.named, command->found.total, command->found.with_line);
    if (command->totals.runtime_bytes <= INT64_MAX)
        row(stream, "own memory", "%s in the program, besides the shared store",
            quantity_text((int64_t)command->totals.runtime_bytes, "bytes", text));
}

/* What to look at: the file of the process that held most. */
static void print_next(FILE *stream, const struct summary *summary, const struct job *job)
{
    struct stat st;
    if (!job || !job->path || stat(job->path, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    char *path = proc_quote((char *[]){job->path, NULL});
    if (!summary->format || strcmp(summary->format, "pprof") == 0)
        row(stream, "next", "heapprof top %s", path);
    else if (strcmp(summary->format, "svg") == 0)
        row(stream, "next", "open %s in a browser", path);
    free(path);
}

void summary_print(const struct summary *summary, FILE *stream)
{
    char text[QUANTITY_TEXT_SIZE];
    const struct job *command = command_file(summary);
    char *name = proc_quote((char *[]){(char *)(uintptr_t)summary->command, NULL});
    fprintf(stream, "heapprof: %s ran %s\n", name, nanoseconds(summary->run_ns, text));
    free(name);
    if (command)
        print_totals(stream, summary, &command->totals);
    print_counts(stream, summary);
    if (summary->is_verbose)
        print_details(stream, summary, command);
    size_t count;
    const struct job **others = other_files(summary, command, &count);
    print_files(stream, command, others, count);
    bool in_child = count > 0 && (!command || peak_of(others[0]) > peak_of(command));
    print_next(stream, summary, in_child ? others[0] : command);
    free(others);
}
