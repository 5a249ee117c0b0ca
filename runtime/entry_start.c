/* entry_start.c: aims the jumps of malloc and free at the next allocator.
 *
 * Not hook-safe. The page they lie in is not written to: a copy is, which becomes executable and
 * then takes the page's place. So a system that allows no code to be made while a program runs
 * (SELinux without execmem, systemd's MemoryDenyWriteExecute) says no before anything has changed;
 * the same where there is no room for one more mapping. Debuggers, and profilers that were there
 * from the start, know the code by its address, as before; a profiler that comes later (perf -p)
 * sees memory without a file there, under the name given to it. A breakpoint that a tracer has in
 * the page (uprobes, gdb) must not be copied, since its owner would not know the copy: then all
 * stays as it is. Source: mremap(2), PR_SET_VMA in prctl(2), Documentation/trace/uprobetracer. */
#include "runtime/entry_start.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "runtime/hook_entry.h"
#include "runtime/hook_next.h"

/* Changes one jump in the copy; false when its target is more than 2 GiB away. */
static bool aim(const struct hook_entry_jump *jump, uint8_t *copy)
{
    uintptr_t place = (uintptr_t)&jump->distance + (uintptr_t)(intptr_t)jump->distance;
    uintptr_t target;
    memcpy(&target, (const char *)&next + jump->next, sizeof(target));
    /* Counted from the end of the instruction. */
    intptr_t distance = (intptr_t)(target - (place + sizeof(int32_t)));
    int32_t encoded = (int32_t)distance;
    if (encoded != distance)
        return false;
    memcpy(copy + (place - (uintptr_t)hook_entry_page), &encoded, sizeof(encoded));
    return true;
}

static bool has_breakpoint(const uint8_t *code)
{
    const uint8_t breakpoint = 0xcc;
    for (const int32_t *op = hook_entry_ops; op != hook_entry_ops_end; op++) {
        uintptr_t place = (uintptr_t)op + (uintptr_t)(intptr_t)*op;
        if (code[place - (uintptr_t)hook_entry_page] == breakpoint)
            return true;
    }
    return false;
}

bool entry_replace(bool (*change)(uint8_t *copy))
{
    uint8_t *copy = mmap(NULL, HOOK_ENTRY_PAGE_BYTES, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return false;
    memcpy(copy, hook_entry_page, HOOK_ENTRY_PAGE_BYTES);
    if (has_breakpoint(copy) || !change(copy) ||
        mprotect(copy, HOOK_ENTRY_PAGE_BYTES, PROT_READ | PROT_EXEC) != 0 ||
        mremap(copy, HOOK_ENTRY_PAGE_BYTES, HOOK_ENTRY_PAGE_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED,
               hook_entry_page) == MAP_FAILED) {
        munmap(copy, HOOK_ENTRY_PAGE_BYTES);
        return false;
    }
    prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, hook_entry_page, HOOK_ENTRY_PAGE_BYTES,
          "heapprof entry");
    return true;
}

static bool aim_all(uint8_t *copy)
{
    bool aimed = false;
    for (const struct hook_entry_jump *jump = hook_entry_jumps; jump != hook_entry_jumps_end;
         jump++)
        aimed |= aim(jump, copy);
    return aimed;
}

void entry_start(void)
{
    entry_replace(aim_all);
}
