/* hook_eh_reader.c: the variable-length numbers and encoded pointers of .eh_frame.
 *
 * Hook-safe: runs in the target's malloc on any thread, also in signal handlers; reads memory
 * only, inside the reader's bounds. Values are taken modulo 2^64, as the address arithmetic of the
 * format is meant; whoever uses one as an address checks it.
 * Source: DWARF 5, 7.6; LSB Core 5.0, 10.5. */
#include "runtime/hook_eh_reader.h"

/* The bits of one LEB128 number; *bits becomes how many were given, at most 70. */
static uint64_t leb_bits(struct eh_reader *in, unsigned *bits, bool *negative)
{
    uint64_t value = 0;
    for (*bits = 0; *bits < 70; *bits += 7) {
        uint64_t byte = eh_unsigned(in, 1);
        if (in->bad)
            return 0;
        value |= (byte & 0x7f) << *bits;
        if ((byte & 0x80) == 0) {
            *negative = (byte & 0x40) != 0;
            *bits += 7;
            return value;
        }
    }
    in->bad = true;
    return 0;
}

uint64_t eh_uleb(struct eh_reader *in)
{
    unsigned bits;
    bool negative = false;
    return leb_bits(in, &bits, &negative);
}

int64_t eh_sleb(struct eh_reader *in)
{
    unsigned bits;
    bool negative = false;
    uint64_t value = leb_bits(in, &bits, &negative);
    if (negative && bits < 64)
        value |= UINT64_MAX << bits;
    return (int64_t)value;
}

/* The value before its base is added. */
static uint64_t pointer_value(struct eh_reader *in, uint8_t encoding)
{
    switch (encoding & 0x0f) {
    case EH_PE_ABSPTR:
    case EH_PE_UDATA8:
    case EH_PE_SDATA8:
        return eh_unsigned(in, 8);
    case EH_PE_ULEB128:
        return eh_uleb(in);
    case EH_PE_SLEB128:
        return (uint64_t)eh_sleb(in);
    case EH_PE_UDATA2:
        return eh_unsigned(in, 2);
    case EH_PE_SDATA2:
        return (uint64_t)eh_signed(in, 2);
    case EH_PE_UDATA4:
        return eh_unsigned(in, 4);
    case EH_PE_SDATA4:
        return (uint64_t)eh_signed(in, 4);
    default:
        in->bad = true;
        return 0;
    }
}

uintptr_t eh_pointer(struct eh_reader *in, uint8_t encoding, uintptr_t data_base)
{
    uintptr_t place = (uintptr_t)in->at;
    uint64_t value = pointer_value(in, encoding);
    switch (encoding & 0xf0) {
    case 0:
        return value;
    case EH_PE_PCREL:
        return value + place;
    case EH_PE_DATAREL:
        return value + data_base;
    default:
        in->bad = true;
        return 0;
    }
}

void eh_skip_pointer(struct eh_reader *in, uint8_t encoding)
{
    if (encoding == EH_PE_OMIT)
        return;
    if (encoding == EH_PE_ALIGNED) {
        eh_skip(in, -(uintptr_t)in->at & 7);
        eh_skip(in, 8);
        return;
    }
    pointer_value(in, encoding);
}
