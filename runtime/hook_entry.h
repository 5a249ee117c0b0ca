/* hook_entry.h: what entry_start.c knows of the code in hook_entry.c. */
#ifndef HEAPPROF_RUNTIME_HOOK_ENTRY_H
#define HEAPPROF_RUNTIME_HOOK_ENTRY_H

#include <stdint.h>

/* malloc begins the page, free follows. */
enum { HOOK_ENTRY_PAGE_BYTES = 4096, HOOK_ENTRY_FUNCTION_BYTES = 256 };

/* The page that malloc and free lie in, and nothing else. */
extern const uint8_t hook_entry_page[HOOK_ENTRY_PAGE_BYTES] __attribute__((visibility("hidden")));

/* A conditional jump in the page: it leads to a jump through `next`, and may lead to where that
 * goes. */
struct hook_entry_jump {
    int32_t distance; /* bytes, from this field to the 32 bits that say where the jump goes */
    uint32_t next;    /* offset of its function in struct next */
};

/* All of them, up to hook_entry_jumps_end. */
extern const struct hook_entry_jump hook_entry_jumps[] __attribute__((visibility("hidden")));
extern const struct hook_entry_jump hook_entry_jumps_end[] __attribute__((visibility("hidden")));

/* Where each instruction of the page begins, up to hook_entry_ops_end: bytes from the entry. */
extern const int32_t hook_entry_ops[] __attribute__((visibility("hidden")));
extern const int32_t hook_entry_ops_end[] __attribute__((visibility("hidden")));

#endif
