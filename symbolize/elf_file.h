/* elf_file.h: a 64-bit little-endian ELF file in memory, read with every offset checked. */
#ifndef HEAPPROF_SYMBOLIZE_ELF_FILE_H
#define HEAPPROF_SYMBOLIZE_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

#define ELF_BUILD_ID_BYTES 64u /* longest build id kept */

struct elf_section {
    const char *name; /* "" when it cannot be read; lives as long as the file */
    uint32_t type;    /* SHT_* */
    uint32_t link;    /* another section's index */
    uint64_t flags;   /* SHF_* */
    uint64_t address; /* virtual, 0 when not loaded */
    uint64_t offset;  /* in the file */
    uint64_t size;    /* bytes in the file (in memory for SHT_NOBITS) */
};

struct elf_segment {
    uint32_t type;  /* PT_* */
    uint32_t flags; /* PF_* */
    uint64_t offset, file_size;
    uint64_t address, memory_size;
};

/* Read-only for everybody but elf_file.c. */
struct elf_file {
    const char *name; /* for messages */
    const uint8_t *bytes;
    size_t size;
    struct elf_section *sections; /* index 0 is the ELF null section, when there are any */
    uint32_t section_count;
    struct elf_segment *segments;
    uint32_t segment_count;
    char build_id[2 * ELF_BUILD_ID_BYTES + 1]; /* lower-case hex, "" when there is none */
    bool is_mapped;                            /* bytes are our own mapping */
    uint64_t device, inode;                    /* of a mapped file, else 0 */
};

/* Bytes inside a file; NULL and 0 when there are none. */
struct elf_bytes {
    const uint8_t *at;
    size_t size;
};

/* The file at path, or behind the descriptor (which stays the caller's and may be closed at once).
 * NULL, with *error filled, when it cannot be opened or is no x86-64 ELF file. The file is mapped:
 * one that is truncated by somebody else while it is in use raises SIGBUS. */
struct elf_file *elf_file_open(const char *path, struct error *error);
struct elf_file *elf_file_of_descriptor(int descriptor, const char *name, struct error *error);
/* The same from memory that the caller keeps alive and unchanged. */
struct elf_file *elf_file_of_memory(const void *bytes, size_t size, const char *name,
                                    struct error *error);
/* NULL is accepted. */
void elf_file_close(struct elf_file *file);

/* The first section of that name, NULL when there is none. */
const struct elf_section *elf_file_section(const struct elf_file *file, const char *name);

/* The section's bytes as they are in the file (perhaps compressed: see section_data.h). Empty when
 * it has none or they lie outside of the file. */
struct elf_bytes elf_file_section_bytes(const struct elf_file *file,
                                        const struct elf_section *section);

/* The virtual address of what is at offset in the file, by the PT_LOAD segments; executable ones
 * first. False when no segment holds it. */
bool elf_file_address_of_offset(const struct elf_file *file, uint64_t offset, uint64_t *address);

/* .gnu_debuglink: the name of the separate debug file and its CRC-32. The name lives as long as
 * the file. False when there is none or it is damaged. */
bool elf_file_debug_link(const struct elf_file *file, const char **name, uint32_t *crc);

/* .gnu_debugaltlink (dwz): name of the shared debug file and its build id as lower-case hex. */
bool elf_file_debug_alt_link(const struct elf_file *file, const char **name,
                             char build_id[2 * ELF_BUILD_ID_BYTES + 1]);

/* The CRC-32 that .gnu_debuglink means, over the whole file: about 1 ms a MB. */
uint32_t elf_file_crc(const struct elf_file *file);

#endif
