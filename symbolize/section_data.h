/* section_data.h: the contents of an ELF section, decompressed where it is compressed. */
#ifndef HEAPPROF_SYMBOLIZE_SECTION_DATA_H
#define HEAPPROF_SYMBOLIZE_SECTION_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct elf_section;

struct section_data {
    const uint8_t *bytes; /* valid until section_data_done and while the file is open */
    size_t size;
    void *own; /* decompressed copy, or NULL when bytes points into the file */
    size_t own_size;
};

/* How many bytes the section has when decompressed, without decompressing it; 0 when it is empty or
 * damaged. Cheap. */
size_t section_data_size(const struct elf_file *file, const struct elf_section *section);

/* Fills *data: SHF_COMPRESSED with zlib or zstd, old ".zdebug_" sections, plain ones. False, with
 * *data zeroed, when the section is empty, damaged, or memory is short. */
bool section_data_load(const struct elf_file *file, const struct elf_section *section,
                       struct section_data *data);
void section_data_done(struct section_data *data);

/* The contents of an xz stream (.gnu_debugdata) of at most limit bytes, into *data. */
bool section_data_unpack_xz(const uint8_t *bytes, size_t size, size_t limit,
                            struct section_data *data);

#endif
