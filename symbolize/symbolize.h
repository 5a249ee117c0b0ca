/* symbolize.h: addresses become functions, files, lines and inlined frames.
 *
 * Works on the profile model: each location without lines gets them from its mapping's file, its
 * separate debug file (build id, .gnu_debuglink) or, where there is no DWARF, from the ELF symbol
 * tables. What has no name becomes the function "libfoo.so+0x1234" (the ELF virtual address), so
 * that nothing is lost. A mapping whose locations have been named so has has_functions set, which
 * keeps other tools from guessing again; its other has_* flags are set for what was really found.
 */
#ifndef HEAPPROF_SYMBOLIZE_SYMBOLIZE_H
#define HEAPPROF_SYMBOLIZE_SYMBOLIZE_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct profile;
struct profile_mapping;

struct symbolize_options {
    /* Opens the file behind a mapping: a descriptor that symbolize closes, or -1. NULL: opens
     * mapping->filename. The file is used only if its build id equals the mapping's (when both
     * have one). After -1 mapping->filename is tried, but then both must have one. */
    int (*open_mapping)(void *context, const struct profile_mapping *mapping);
    void *context;
    /* Called now and then with locations done and in all; NULL for none. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    bool no_dwarf;          /* symbol tables only */
    const char *debug_root; /* where separate debug files are; NULL: /usr/lib/debug */
};

struct symbolize_stats {
    uint64_t locations; /* that had no lines and an address */
    uint64_t named;     /* of these, those that got a real name */
    uint64_t with_line; /* of these, those that got file and line */
};

/* Names every location of profile that has no lines yet. Never fails as a whole: a file that
 * cannot be read costs its names only. stats may be NULL. */
void symbolize_profile(struct profile *profile, const struct symbolize_options *options,
                       struct symbolize_stats *stats);

#endif
