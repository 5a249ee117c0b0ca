/* tsc_clock.h: the processor's time stamp counter against CLOCK_MONOTONIC.
 *
 * The runtime tells lifetimes in ticks of that counter where it can be trusted; here ticks become
 * nanoseconds. The counter's speed is measured from tsc_clock_start on, so it is known the better
 * the later it is asked for: to 0.01 % a millisecond after. */
#ifndef HEAPPROF_CLI_TSC_CLOCK_H
#define HEAPPROF_CLI_TSC_CLOCK_H

#include <stdint.h>

/* Begins to measure; once, at the start of a run. */
void tsc_clock_start(void);

/* Ticks a second, 0 where the kernel itself does not trust the counter. */
uint64_t tsc_clock_hz(void);

/* What the counter stood at when CLOCK_MONOTONIC was ns. */
uint64_t tsc_clock_at(uint64_t ns);

#endif
