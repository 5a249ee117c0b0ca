/* paired.c: two commands run in turn, A B B A A B ..., and what B costs over A.
 *
 *     paired [-t] [-n PAIRS] [-d DIVISOR] LABEL A... --- B...
 *
 * With -t ("together") the two of a pair run at the same time on one processor, which the kernel
 * gives to one and the other every few milliseconds, so both see the same machine: clock, caches
 * and neighbours. Only CPU time says something then. It is the way to tell a percent on a machine
 * that others use too, for commands of one thread that do not wait; what B starts counts with B.
 *
 * In turn, since a machine's speed drifts: each ratio is of two neighbours in time, and every other
 * pair is run the other way round, so that a steady drift cancels out. One pair is run first and
 * not counted. Prints minimum, median and maximum of both in milliseconds (wall time), the medians
 * of B/A and of B - A, the former with its 95 % interval (from 6 pairs on); with a DIVISOR the
 * latter is also given for each of DIVISOR parts (children, say). CPU time (user and system, with
 * waited-for children) is on a line of its own. The commands' standard output goes nowhere; one
 * that fails ends it with status 1. */
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_PAIRS = 1000, INTERVAL_FROM_PAIRS = 6 };

struct series {
    double wall_ms[MAX_PAIRS];
    double cpu_ms[MAX_PAIRS];
};

struct comparison {
    const char *label;
    char **bare, **other;
    int pairs;
    bool together;
    double divisor;
    struct series of_bare, of_other;
};

extern char **environ;

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double timeval_ms(struct timeval time)
{
    return (double)time.tv_sec * 1e3 + (double)time.tv_usec / 1e3;
}

/* The command's pid; -1 after a line on stderr when it cannot be started. */
static pid_t start(char **command)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t pid;
    int error = posix_spawnp(&pid, command[0], &actions, NULL, command, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        fprintf(stderr, "paired: %s: %s\n", command[0], strerror(error));
    return error != 0 ? -1 : pid;
}

/* Waits for the pid, started at start_ms. */
static bool finish(char **command, pid_t pid, double start_ms, double *wall_ms, double *cpu_ms)
{
    int status;
    struct rusage usage;
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
        return false;
    *wall_ms = now_ms() - start_ms;
    *cpu_ms = timeval_ms(usage.ru_utime) + timeval_ms(usage.ru_stime);
    if (status != 0)
        fprintf(stderr, "paired: %s: wait status %d\n", command[0], status);
    return status == 0;
}

static bool run(char **command, double *wall_ms, double *cpu_ms)
{
    double start_ms = now_ms();
    return finish(command, start(command), start_ms, wall_ms, cpu_ms);
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Sorts values[0..count) and gives the median. */
static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), compare_doubles);
    return count % 2 != 0 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* The 95 % interval of the median of count sorted values, as two of them: the ranks between which
 * the median lies by the binomial law, in its normal approximation (Conover, Practical
 * Nonparametric Statistics, 3.2). */
static void median_interval(const double *sorted, int count, double *low, double *high)
{
    int reach = (int)ceil(0.98 * sqrt(count));
    int below = count / 2 - reach, above = (count - 1) / 2 + reach;
    *low = sorted[below < 0 ? 0 : below];
    *high = sorted[above >= count ? count - 1 : above];
}

static void print_kind(const struct comparison *comparison, const char *kind, const double *bare,
                       const double *other)
{
    static double ratios[MAX_PAIRS], extra[MAX_PAIRS], sorted_bare[MAX_PAIRS],
        sorted_other[MAX_PAIRS];
    int pairs = comparison->pairs;
    for (int i = 0; i < pairs; i++) {
        ratios[i] = other[i] / bare[i];
        extra[i] = other[i] - bare[i];
        sorted_bare[i] = bare[i];
        sorted_other[i] = other[i];
    }
    double middle_bare = median(sorted_bare, pairs), middle_other = median(sorted_other, pairs);
    double middle_ratio = median(ratios, pairs), middle_extra = median(extra, pairs);
    double low, high;
    median_interval(ratios, pairs, &low, &high);
    printf("  %-4s  bare %.2f / %.2f / %.2f ms   profiled %.2f / %.2f / %.2f ms   "
           "ratio %.4f",
           kind, sorted_bare[0], middle_bare, sorted_bare[pairs - 1], sorted_other[0], middle_other,
           sorted_other[pairs - 1], middle_ratio);
    if (pairs >= INTERVAL_FROM_PAIRS)
        printf(" (%.4f to %.4f)", low, high);
    printf("   extra %+.2f ms", middle_extra);
    if (comparison->divisor > 0)
        printf(" (%+.3f ms each)", middle_extra / comparison->divisor);
    putchar('\n');
}

static bool run_together(struct comparison *comparison, int pair)
{
    struct series *of_bare = &comparison->of_bare, *of_other = &comparison->of_other;
    bool other_first = pair % 2 != 0;
    double start_ms = now_ms();
    pid_t first = start(other_first ? comparison->other : comparison->bare);
    pid_t second = start(other_first ? comparison->bare : comparison->other);
    bool bare_good = finish(comparison->bare, other_first ? second : first, start_ms,
                            &of_bare->wall_ms[pair], &of_bare->cpu_ms[pair]);
    bool other_good = finish(comparison->other, other_first ? first : second, start_ms,
                             &of_other->wall_ms[pair], &of_other->cpu_ms[pair]);
    return bare_good && other_good;
}

static bool measure_together(struct comparison *comparison)
{
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        return false;
    for (size_t processor = 0; processor < CPU_SETSIZE && CPU_COUNT(&one) == 0; processor++)
        if (CPU_ISSET(processor, &allowed))
            CPU_SET(processor, &one);
    if (sched_setaffinity(0, sizeof(one), &one) != 0)
        return false;
    for (int i = 0; i < comparison->pairs; i++)
        if (!run_together(comparison, i))
            return false;
    return true;
}

static bool measure(struct comparison *comparison)
{
    double warm_wall, warm_cpu;
    if (!run(comparison->bare, &warm_wall, &warm_cpu) ||
        !run(comparison->other, &warm_wall, &warm_cpu))
        return false;
    if (comparison->together)
        return measure_together(comparison);
    for (int i = 0; i < comparison->pairs; i++) {
        bool other_first = i % 2 != 0;
        for (int turn = 0; turn < 2; turn++) {
            bool other = (turn == 0) == other_first;
            struct series *series = other ? &comparison->of_other : &comparison->of_bare;
            if (!run(other ? comparison->other : comparison->bare, &series->wall_ms[i],
                     &series->cpu_ms[i]))
                return false;
        }
    }
    return true;
}

/* False when the arguments are not as the first comment says. */
static bool parse(int argc, char **argv, struct comparison *comparison)
{
    int option;
    while ((option = getopt(argc, argv, "+tn:d:")) != -1) {
        if (option == 't')
            comparison->together = true;
        else if (option == 'n')
            comparison->pairs = (int)strtol(optarg, NULL, 10);
        else if (option == 'd')
            comparison->divisor = strtod(optarg, NULL);
        else
            return false;
    }
    if (comparison->pairs < 1 || comparison->pairs > MAX_PAIRS || optind + 1 >= argc)
        return false;
    comparison->label = argv[optind];
    comparison->bare = argv + optind + 1;
    for (char **word = comparison->bare; *word != NULL; word++) {
        if (strcmp(*word, "---") == 0) {
            *word = NULL;
            comparison->other = word + 1;
            return comparison->bare != word && word[1] != NULL;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    static struct comparison comparison = {.pairs = 21};
    if (!parse(argc, argv, &comparison)) {
        fputs("usage: paired [-t] [-n PAIRS] [-d DIVISOR] LABEL A... --- B...\n", stderr);
        return 2;
    }
    if (!measure(&comparison))
        return 1;
    printf("%s (%d pairs; minimum / median / maximum)\n", comparison.label, comparison.pairs);
    if (!comparison.together)
        print_kind(&comparison, "wall", comparison.of_bare.wall_ms, comparison.of_other.wall_ms);
    print_kind(&comparison, "cpu", comparison.of_bare.cpu_ms, comparison.of_other.cpu_ms);
    return 0;
}
