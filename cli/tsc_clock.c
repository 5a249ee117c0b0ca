/* tsc_clock.c: measures the time stamp counter. */
#include "cli/tsc_clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/collector.h"

struct reading {
    uint64_t ticks;
    uint64_t ns;
};

enum { LEAST_NS = 1000000 };

static struct reading first;
static bool is_trusted;

/* Both clocks at one moment: of a few tries the one that was interrupted least. */
static struct reading take_reading(void)
{
    struct reading best = {0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 8; i++) {
        uint64_t before = __builtin_ia32_rdtsc();
        uint64_t ns = collector_now_ns();
        uint64_t after = __builtin_ia32_rdtsc();
        if (after - before < least) {
            least = after - before;
            best = (struct reading){.ticks = before + least / 2, .ns = ns};
        }
    }
    return best;
}

/* The clocks that are the counter, scaled by the kernel or the hypervisor. */
static bool kernel_trusts_it(void)
{
    static const char *const good[] = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page"};
    char name[64] = "";
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    if (!file)
        return false;
    if (!fgets(name, sizeof(name), file))
        name[0] = '\0';
    fclose(file);
    name[strcspn(name, "\n")] = '\0';
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        if (strcmp(name, good[i]) == 0)
            return true;
    return false;
}

void tsc_clock_start(void)
{
    is_trusted = kernel_trusts_it();
    first = take_reading();
}

/* Ticks a nanosecond. */
static double speed(void)
{
    while (collector_now_ns() - first.ns < LEAST_NS)
        ;
    struct reading last = take_reading();
    return (double)(last.ticks - first.ticks) / (double)(last.ns - first.ns);
}

uint64_t tsc_clock_hz(void)
{
    return is_trusted ? (uint64_t)(speed() * 1e9) : 0;
}

uint64_t tsc_clock_at(uint64_t ns)
{
    return first.ticks + (uint64_t)(int64_t)(speed() * ((double)ns - (double)first.ns));
}
