/* hook_eh_frame.h: the unwind rule for one pc, from the .eh_frame of the object that holds it.
 *
 * Hook-safe: any thread, signal handlers too; no system call but madvise, for objects whose program
 * headers have been moved. Reads only inside the object's own loaded, readable segments, so tables
 * that are damaged give FRAME_NONE and nothing worse. About 900 bytes of stack. */
#ifndef HEAPPROF_RUNTIME_HOOK_EH_FRAME_H
#define HEAPPROF_RUNTIME_HOOK_EH_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/hook_frame_rule.h"

struct dl_find_object;

/* The unwind tables of one object, as addresses in memory. */
struct eh_frame_object {
    uintptr_t header; /* .eh_frame_hdr */
    uintptr_t tables; /* [tables, tables_limit): the readable segment that holds header */
    uintptr_t tables_limit;
    uintptr_t code; /* [code, code_limit): the readable segment that holds the pc */
    uintptr_t code_limit;
};

/* Finds the tables for pc in the object that _dl_find_object gave for it. False when it has none,
 * or when its program headers are not where its first segment should have them. */
bool eh_frame_object_init(struct eh_frame_object *object, const struct dl_find_object *found,
                          uintptr_t pc) __attribute__((visibility("hidden")));

/* The readable segment of the object that holds address: [*start, *limit). False when none does. */
bool eh_frame_segment(const struct dl_find_object *found, uintptr_t address, uintptr_t *start,
                      uintptr_t *limit) __attribute__((visibility("hidden")));

/* The rule for pc: for a frame that called something, its return address - 1; for one that was
 * interrupted, its pc itself. FRAME_NONE when no FDE covers pc or its data are malformed; but
 * FRAME_ROOT with interrupts where a function begins at pc + 1, a return address made by hand. */
struct frame_rule eh_frame_rule(const struct eh_frame_object *object, uintptr_t pc)
    __attribute__((visibility("hidden")));

#endif
