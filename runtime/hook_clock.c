/* hook_clock.c: which clock tells the ticks.
 *
 * Runs once, in the constructor. */
#include "runtime/hook_clock.h"

#include <cpuid.h>
#include <sys/prctl.h>

#include "runtime/hook_syscall.h"

struct clock_ticks clock_ticks;

/* Runs at one speed, also while the processor sleeps: CPUID 80000007h, EDX bit 8 (AMD64 manual,
 * volume 3, appendix E). */
static bool tsc_is_invariant(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d >> 8 & 1) != 0;
}

/* A process may be forbidden to read it, by prctl(PR_SET_TSC), which children inherit. */
static bool tsc_is_readable(void)
{
    int mode = PR_TSC_SIGSEGV;
    return raw_syscall3(SYS_prctl, PR_GET_TSC, (long)&mode, 0) == 0 && mode == PR_TSC_ENABLE;
}

void clock_start(bool has_tsc)
{
    clock_ticks.kind =
        has_tsc && tsc_is_invariant() && tsc_is_readable() ? STORE_TICK_TSC : STORE_TICK_NS;
    clock_ticks.origin = 0;
    clock_ticks.origin = clock_now_ticks();
}
