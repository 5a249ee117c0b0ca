/* hook_thread.h: the number by which the runtime knows a thread, and whether there are others.
 *
 * Hook-safe. Numbers are counted up at a thread's first recorded event and never given back; no
 * system call. */
#ifndef HEAPPROF_RUNTIME_HOOK_THREAD_H
#define HEAPPROF_RUNTIME_HOOK_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/single_threaded.h>

#include "runtime/hook_shared.h"

/* 0 in a thread that has not been numbered. */
extern __thread uint32_t thread_own_number __attribute__((visibility("hidden")));

/* The cold half of thread_number. */
uint32_t thread_take_number(void);

/* The calling thread's number, from 1 up. */
static inline uint32_t thread_number(void)
{
    return LIKELY(thread_own_number != 0) ? thread_own_number : thread_take_number();
}

/* True as long as the process has one thread: then one instruction is atomic enough, since only a
 * signal handler can come in between. libc's own malloc asks the same word. */
static inline bool thread_is_alone(void)
{
    return __libc_single_threaded != 0;
}

/* Of `count` words (at least 2): one for each of the first threads alone, and the last for all
 * others. *own: nobody else uses it, so one instruction is atomic enough, as for thread_is_alone.
 */
static inline uint32_t thread_word(uint32_t count, bool *own)
{
    uint32_t number = thread_number();
    *own = number < count;
    return *own ? number - 1 : count - 1;
}

/* Compare and swap, as strong as a locked one unless alone: false when *word is not expected. */
static inline bool thread_swap_u32(uint32_t *word, uint32_t expected, uint32_t wanted, bool alone)
{
    bool swapped;
    if (alone)
        __asm__ volatile("cmpxchgl %3, %1"
                         : "=@ccz"(swapped), "+m"(*word), "+a"(expected)
                         : "r"(wanted)
                         : "memory");
    else
        __asm__ volatile("lock cmpxchgl %3, %1"
                         : "=@ccz"(swapped), "+m"(*word), "+a"(expected)
                         : "r"(wanted)
                         : "memory");
    return swapped;
}

static inline bool thread_swap_u64(uint64_t *word, uint64_t expected, uint64_t wanted, bool alone)
{
    bool swapped;
    if (alone)
        __asm__ volatile("cmpxchgq %3, %1"
                         : "=@ccz"(swapped), "+m"(*word), "+a"(expected)
                         : "r"(wanted)
                         : "memory");
    else
        __asm__ volatile("lock cmpxchgq %3, %1"
                         : "=@ccz"(swapped), "+m"(*word), "+a"(expected)
                         : "r"(wanted)
                         : "memory");
    return swapped;
}

/* Adds to a word and returns what it is then. */
static inline int64_t thread_add_i64(int64_t *word, int64_t value, bool alone)
{
    int64_t before = value;
    if (alone)
        __asm__ volatile("xaddq %1, %0" : "+m"(*word), "+r"(before) : : "cc", "memory");
    else
        __asm__ volatile("lock xaddq %1, %0" : "+m"(*word), "+r"(before) : : "cc", "memory");
    return before + value;
}

/* Adds to a word that only this process writes. */
static inline void thread_add_u64(uint64_t *word, uint64_t value, bool alone)
{
    if (alone)
        __asm__ volatile("addq %1, %0" : "+m"(*word) : "er"(value) : "cc");
    else
        shared_add_u64(word, value);
}

#endif
