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

/* Adds to a word that only this process writes. */
static inline void thread_add_u64(uint64_t *word, uint64_t value, bool alone)
{
    if (alone)
        __asm__ volatile("addq %1, %0" : "+m"(*word) : "er"(value) : "cc");
    else
        shared_add_u64(word, value);
}

#endif
