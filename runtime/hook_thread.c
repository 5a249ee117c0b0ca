/* hook_thread.c: numbers the threads. */
#include "runtime/hook_thread.h"

__thread uint32_t thread_own_number;

static uint32_t last_number;

__attribute__((noinline, cold)) uint32_t thread_take_number(void)
{
    thread_own_number = shared_add_u32(&last_number, 1) + 1;
    return thread_own_number;
}
