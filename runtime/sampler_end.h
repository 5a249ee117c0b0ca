/* sampler_end.h: what a thread has asked for since its last sample is counted at its end.
 *
 * Not hook-safe: for the constructor. */
#ifndef HEAPPROF_RUNTIME_SAMPLER_END_H
#define HEAPPROF_RUNTIME_SAMPLER_END_H

/* From now on sampler_settle is called at the end of each thread that has allocated, and of the
 * thread that calls exit. Takes a key of thread-specific data, if one of those whose use allocates
 * nothing is left. */
void sampler_end_start(void);

#endif
