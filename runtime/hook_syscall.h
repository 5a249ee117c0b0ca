/* hook_syscall.h: system calls as the kernel sees them.
 *
 * libc's wrappers set errno, are cancellation points, and may be interposed by the target or by
 * another preloaded library; none of that may happen inside the target's malloc. These do the one
 * instruction and return what the kernel returns: the result, or -errno. Any thread, signal
 * handlers too, also before libc is set up. Calling convention: System V ABI AMD64, appendix A.2.1.
 * Linux kernel conventions. */
#ifndef HEAPPROF_RUNTIME_HOOK_SYSCALL_H
#define HEAPPROF_RUNTIME_HOOK_SYSCALL_H

#include <sys/syscall.h>

static inline long raw_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static inline long raw_syscall5(long number, long a, long b, long c, long d, long e)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
}

static inline long raw_syscall4(long number, long a, long b, long c, long d)
{
    register long r10 __asm__("r10") = d;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return result;
}

static inline long raw_syscall3(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}

static inline long raw_syscall2(long number, long a, long b)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b)
                     : "rcx", "r11", "memory");
    return result;
}

static inline long raw_syscall1(long number, long a)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a) : "rcx", "r11", "memory");
    return result;
}

static inline long raw_syscall0(long number)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number) : "rcx", "r11", "memory");
    return result;
}

/* Whether a result is -errno: the kernel keeps the last page of values for errors. */
static inline int raw_failed(long result)
{
    return (unsigned long)result > -4096ul;
}

#endif
