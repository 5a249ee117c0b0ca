/* hook_eh_reader.h: reads numbers and pointers of .eh_frame, never outside its bounds.
 *
 * Sticky error: after the first read that does not fit, bad is set, at stays, and every read gives
 * 0; so callers check once, at the end. Bytes are taken one by one or by memcpy: nothing in
 * .eh_frame is aligned. Hook-safe: reads memory only.
 * Source: DWARF 5, 7.6; LSB Core 5.0, 10.5 (pointer encodings). */
#ifndef HEAPPROF_RUNTIME_HOOK_EH_READER_H
#define HEAPPROF_RUNTIME_HOOK_EH_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct eh_reader {
    const uint8_t *at;
    const uint8_t *end;
    bool bad;
};

/* DW_EH_PE_*: low nibble the format, then what the value counts from, top bit indirect. */
enum {
    EH_PE_ABSPTR = 0x00,
    EH_PE_ULEB128 = 0x01,
    EH_PE_UDATA2 = 0x02,
    EH_PE_UDATA4 = 0x03,
    EH_PE_UDATA8 = 0x04,
    EH_PE_SLEB128 = 0x09,
    EH_PE_SDATA2 = 0x0a,
    EH_PE_SDATA4 = 0x0b,
    EH_PE_SDATA8 = 0x0c,
    EH_PE_PCREL = 0x10,
    EH_PE_DATAREL = 0x30,
    EH_PE_ALIGNED = 0x50,
    EH_PE_INDIRECT = 0x80,
    EH_PE_OMIT = 0xff
};

static inline size_t eh_left(const struct eh_reader *in)
{
    return (size_t)(in->end - in->at);
}

static inline void eh_skip(struct eh_reader *in, uint64_t bytes)
{
    if (in->bad || bytes > eh_left(in))
        in->bad = true;
    else
        in->at += bytes;
}

/* The next size bytes (1 to 8) as a little-endian number. */
static inline uint64_t eh_unsigned(struct eh_reader *in, size_t size)
{
    uint64_t value = 0;
    if (in->bad || size > eh_left(in)) {
        in->bad = true;
        return 0;
    }
    memcpy(&value, in->at, size);
    in->at += size;
    return value;
}

/* The same with the sign of the topmost of its bits. */
static inline int64_t eh_signed(struct eh_reader *in, size_t size)
{
    unsigned unused_bits = (unsigned)(64 - 8 * size);
    return (int64_t)(eh_unsigned(in, size) << unused_bits) >> unused_bits;
}

/* LEB128 of at most 10 bytes, as 64 bits; longer is bad. */
uint64_t eh_uleb(struct eh_reader *in) __attribute__((visibility("hidden")));
int64_t eh_sleb(struct eh_reader *in) __attribute__((visibility("hidden")));

/* A pointer encoded as DW_EH_PE_* says; data_base is what datarel counts from. Other bases,
 * DW_EH_PE_indirect and unknown formats are bad: compilers use them for personality routines only,
 * which eh_skip_pointer steps over. */
uintptr_t eh_pointer(struct eh_reader *in, uint8_t encoding, uintptr_t data_base)
    __attribute__((visibility("hidden")));
void eh_skip_pointer(struct eh_reader *in, uint8_t encoding) __attribute__((visibility("hidden")));

#endif
