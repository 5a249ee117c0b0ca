/* entry_start.c: aims the jumps of malloc and free at the next allocator.
 *
 * Not hook-safe. The page they lie in is not written to: a copy is, which becomes executable, and
 * then takes the page's place in one step. So a system that allows no code to be made while a
 * program runs (SELinux without execmem, systemd's MemoryDenyWriteExecute) says no before anything
 * has changed. The page's place in the file, and with it what debuggers and profilers know of it,
 * is the same. */
#include "runtime/entry_start.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

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

void entry_start(void)
{
    uint8_t *copy = mmap(NULL, HOOK_ENTRY_PAGE_BYTES, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return;
    memcpy(copy, hook_entry_page, HOOK_ENTRY_PAGE_BYTES);
    bool aimed = false;
    for (const struct hook_entry_jump *jump = hook_entry_jumps; jump != hook_entry_jumps_end;
         jump++)
        aimed |= aim(jump, copy);
    if (!aimed || mprotect(copy, HOOK_ENTRY_PAGE_BYTES, PROT_READ | PROT_EXEC) != 0 ||
        mremap(copy, HOOK_ENTRY_PAGE_BYTES, HOOK_ENTRY_PAGE_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED,
               hook_entry_page) == MAP_FAILED)
        munmap(copy, HOOK_ENTRY_PAGE_BYTES);
}
