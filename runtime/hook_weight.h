/* hook_weight.h: the sampling law in integers: gaps and weights.
 *
 * Every byte that the program asks for starts a sample with probability 1 - e^(-1/rate) a byte, so
 * an object of s bytes is sampled with p = 1 - e^(-s/rate). All functions are pure, take any
 * thread and any signal handler, use no floating point (the target's FPU state is not ours to
 * touch) and no libm. A size of 0 counts as 1 in p and as 0 in bytes. */
#ifndef HEAPPROF_RUNTIME_HOOK_WEIGHT_H
#define HEAPPROF_RUNTIME_HOOK_WEIGHT_H

#include <stdint.h>

#define WEIGHT_ONE_Q16 65536u

/* Bytes to the next sample: -ln(u) * rate rounded up, at least 1, for u = random / 2^64 (random 0
 * counts as 1). An exponential gap of mean rate: P(gap <= s) = 1 - e^(-s/rate) to 2^-32. rate in
 * bytes, at most 2^40. */
uint64_t weight_gap_bytes(uint64_t random, uint64_t rate);

/* Objects that one sampled object stands for, in 1/65536: 65536 / (1 - e^(-size/rate)), at least
 * 65536 and exactly that for rate 1. Horvitz-Thompson; golang/go src/runtime/pprof/protomem.go
 * scales in the same way. */
uint64_t weight_objects_q16(uint64_t size, uint64_t rate);

/* The bytes that go with it: size * weight, rounded down to whole bytes. */
uint64_t weight_bytes(uint64_t size, uint64_t weight_q16);

#endif
