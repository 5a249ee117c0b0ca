/* section_data.c: zlib, zstd and xz, within bounds.
 *
 * The size that a section claims is believed only within what its compression can reach, and the
 * memory is mapped, not touched, until the decoder writes it: a claim of gigabytes costs address
 * space only. Exactly the promised number of bytes must come out.
 *
 * Source: System V ABI, "Section Compression" (Elf64_Chdr); ".zdebug_": binutils, "ZLIB" and a
 * big-endian 64-bit size before the stream. */
#include "symbolize/section_data.h"

#include <elf.h>
#include <lzma.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>
#include <zstd.h>

#include "symbolize/elf_file.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2 /* glibc's elf.h has it since 2.37 */
#endif

#define ZLIB_RATIO_MAX 1040u           /* deflate reaches 1032 at most */
#define UNPACKED_MAX (4ull << 30)      /* no section of debug information is larger */
#define XZ_MEMORY_LIMIT (128ull << 20) /* of the decoder; xz -9 takes 65 MiB */
#define ZDEBUG_HEADER 12u

enum packing { PACKING_NONE, PACKING_ZLIB, PACKING_ZSTD, PACKING_BAD };

struct packed {
    enum packing packing;
    const uint8_t *bytes; /* the stream */
    size_t size;
    uint64_t unpacked_size;
};

static struct packed packed_by_header(struct elf_bytes raw)
{
    struct packed packed = {.packing = PACKING_BAD};
    Elf64_Chdr header;
    if (raw.size < sizeof(header))
        return packed;
    memcpy(&header, raw.at, sizeof(header));
    packed.bytes = raw.at + sizeof(header);
    packed.size = raw.size - sizeof(header);
    packed.unpacked_size = header.ch_size;
    if (header.ch_type == ELFCOMPRESS_ZLIB)
        packed.packing = PACKING_ZLIB;
    else if (header.ch_type == ELFCOMPRESS_ZSTD)
        packed.packing = PACKING_ZSTD;
    return packed;
}

static struct packed packed_by_name(struct elf_bytes raw)
{
    struct packed packed = {
        .packing = PACKING_ZLIB, .bytes = raw.at + ZDEBUG_HEADER, .size = raw.size - ZDEBUG_HEADER};
    for (size_t i = 4; i < ZDEBUG_HEADER; i++)
        packed.unpacked_size = packed.unpacked_size << 8 | raw.at[i];
    return packed;
}

static struct packed packed_of(const struct elf_file *file, const struct elf_section *section)
{
    struct elf_bytes raw = elf_file_section_bytes(file, section);
    struct packed packed = {
        .packing = PACKING_NONE, .bytes = raw.at, .size = raw.size, .unpacked_size = raw.size};
    if (raw.size == 0)
        return packed;
    if (section->flags & SHF_COMPRESSED)
        packed = packed_by_header(raw);
    else if (strncmp(section->name, ".zdebug_", 8) == 0 && raw.size >= ZDEBUG_HEADER &&
             memcmp(raw.at, "ZLIB", 4) == 0)
        packed = packed_by_name(raw);
    if (packed.packing == PACKING_ZLIB && packed.unpacked_size / ZLIB_RATIO_MAX > packed.size)
        packed.packing = PACKING_BAD;
    if (packed.unpacked_size > UNPACKED_MAX && packed.packing != PACKING_NONE)
        packed.packing = PACKING_BAD;
    return packed;
}

size_t section_data_size(const struct elf_file *file, const struct elf_section *section)
{
    struct packed packed = packed_of(file, section);
    return packed.packing == PACKING_BAD ? 0 : (size_t)packed.unpacked_size;
}

static bool map_room(struct section_data *data, size_t size)
{
    void *room = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return false;
    *data = (struct section_data){.bytes = room, .size = size, .own = room, .own_size = size};
    return true;
}

static bool unpack_zlib(const struct packed *packed, uint8_t *out)
{
    /* uncompress2 counts in unsigned long, which is 64 bits here. */
    uLongf out_size = (uLongf)packed->unpacked_size;
    uLong in_size = (uLong)packed->size;
    return uncompress2(out, &out_size, packed->bytes, &in_size) == Z_OK &&
           out_size == packed->unpacked_size;
}

static bool unpack_zstd(const struct packed *packed, uint8_t *out)
{
    size_t got = ZSTD_decompress(out, (size_t)packed->unpacked_size, packed->bytes, packed->size);
    return !ZSTD_isError(got) && got == packed->unpacked_size;
}

bool section_data_load(const struct elf_file *file, const struct elf_section *section,
                       struct section_data *data)
{
    struct packed packed = packed_of(file, section);
    memset(data, 0, sizeof(*data));
    if (packed.unpacked_size == 0 || packed.packing == PACKING_BAD)
        return false;
    if (packed.packing == PACKING_NONE) {
        data->bytes = packed.bytes;
        data->size = packed.size;
        return true;
    }
    if (!map_room(data, (size_t)packed.unpacked_size))
        return false;
    bool ok = packed.packing == PACKING_ZLIB ? unpack_zlib(&packed, data->own)
                                             : unpack_zstd(&packed, data->own);
    if (!ok)
        section_data_done(data);
    return ok;
}

void section_data_done(struct section_data *data)
{
    if (data->own)
        munmap(data->own, data->own_size);
    memset(data, 0, sizeof(*data));
}

bool section_data_unpack_xz(const uint8_t *bytes, size_t size, size_t limit,
                            struct section_data *data)
{
    memset(data, 0, sizeof(*data));
    if (size == 0 || limit == 0 || !map_room(data, limit))
        return false;
    uint64_t memory_limit = XZ_MEMORY_LIMIT;
    size_t in = 0, out = 0;
    lzma_ret result =
        lzma_stream_buffer_decode(&memory_limit, 0, NULL, bytes, &in, size, data->own, &out, limit);
    if (result != LZMA_OK || out == 0) {
        section_data_done(data);
        return false;
    }
    data->size = out;
    return true;
}
