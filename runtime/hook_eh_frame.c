/* hook_eh_frame.c: from a pc to its FDE, its CIE and so its unwind rule.
 *
 * Hook-safe: runs in the target's malloc on any thread, also in signal handlers; reads memory only.
 * Nothing is kept: the rule cache in front of it is what makes this rare. The binary search table
 * of .eh_frame_hdr has fixed-size entries in nearly every file; without one, .eh_frame is searched
 * from its start, a bounded number of entries. All reads stay in the segment that holds the
 * tables; the program headers come from the object's first page, where every usual linker puts
 * them, or from further on (patchelf moves them) when the kernel says that memory can be read.
 * Does not know .debug_frame, nor tables that a JIT has registered with libgcc.
 * Source: LSB Core 5.0, 10.6 (.eh_frame, .eh_frame_hdr); DWARF 5, 6.4.1; elf(5). */
#include "runtime/hook_eh_frame.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "runtime/hook_cfa_program.h"
#include "runtime/hook_stack_bounds.h"

enum { PAGE_BYTES = 4096, LINEAR_ENTRIES_MAX = 1 << 16, PROGRAM_HEADERS_MAX = 256 };

/* An object's program headers; NULL when they cannot be had. */
static const Elf64_Phdr *program_headers(const struct dl_find_object *found, size_t *count)
{
    uintptr_t start = (uintptr_t)found->dlfo_map_start;
    uintptr_t size = (uintptr_t)found->dlfo_map_end - start;
    const Elf64_Ehdr *elf = found->dlfo_map_start;
    size_t bytes;
    if (size < PAGE_BYTES || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
        elf->e_phentsize != sizeof(Elf64_Phdr) || elf->e_phnum > PROGRAM_HEADERS_MAX)
        return NULL;
    *count = elf->e_phnum;
    bytes = *count * sizeof(Elf64_Phdr);
    if (elf->e_phoff > size || bytes > size - elf->e_phoff || elf->e_phoff % 8 != 0)
        return NULL;
    if (elf->e_phoff + bytes > PAGE_BYTES && !stack_bounds_probe(start + elf->e_phoff, bytes))
        return NULL;
    return (const Elf64_Phdr *)(start + elf->e_phoff);
}

bool eh_frame_segment(const struct dl_find_object *found, uintptr_t address, uintptr_t *start,
                      uintptr_t *limit)
{
    uintptr_t bias = found->dlfo_link_map->l_addr;
    size_t count = 0;
    const Elf64_Phdr *headers = program_headers(found, &count);
    if (headers == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const Elf64_Phdr *header = &headers[i];
        if (header->p_type == PT_LOAD && (header->p_flags & PF_R) != 0 &&
            address - bias - header->p_vaddr < header->p_filesz) {
            *start = bias + header->p_vaddr;
            *limit = *start + header->p_filesz;
            return *limit > *start && *start >= (uintptr_t)found->dlfo_map_start &&
                   *limit <= (uintptr_t)found->dlfo_map_end;
        }
    }
    return false;
}

bool eh_frame_object_init(struct eh_frame_object *object, const struct dl_find_object *found,
                          uintptr_t pc)
{
    object->header = (uintptr_t)found->dlfo_eh_frame;
    object->code = 0;
    object->code_limit = 0;
    if (object->header == 0)
        return false;
    /* Code that can only be executed is no obstacle: it is read to know a signal trampoline. */
    if (!eh_frame_segment(found, pc, &object->code, &object->code_limit))
        object->code_limit = object->code;
    return eh_frame_segment(found, object->header, &object->tables, &object->tables_limit);
}

/* Reads the object's tables from address on; bad at once when it lies outside. */
static struct eh_reader reader_at(const struct eh_frame_object *object, uintptr_t address)
{
    struct eh_reader in = {(const uint8_t *)object->tables, (const uint8_t *)object->tables, true};
    if (address >= object->tables && address < object->tables_limit) {
        in.at = (const uint8_t *)address;
        in.end = (const uint8_t *)object->tables_limit;
        in.bad = false;
    }
    return in;
}

/* The length at the start of a CIE or FDE: narrows body to the entry, leaves in behind it. False
 * at the terminator and when the length does not fit. */
static bool entry_body(struct eh_reader *in, struct eh_reader *body)
{
    uint64_t length = eh_unsigned(in, 4);
    if (length == 0xffffffff)
        length = eh_unsigned(in, 8);
    *body = *in;
    eh_skip(in, length);
    body->end = in->at;
    return !in->bad && length != 0;
}

/* The augmentation's letters say what its data hold. False for one that cannot be skipped. */
static bool read_augmentation(struct eh_reader *in, const uint8_t *letters, struct cfa_cie *cie)
{
    struct eh_reader data;
    uint64_t length;
    if (*letters == 0)
        return true;
    if (*letters != 'z')
        return false;
    cie->has_lengths = true;
    length = eh_uleb(in);
    data = *in;
    eh_skip(in, length);
    data.end = in->at;
    for (letters++; *letters != 0 && !data.bad; letters++) {
        if (*letters == 'R')
            cie->fde_encoding = (uint8_t)eh_unsigned(&data, 1);
        else if (*letters == 'P')
            eh_skip_pointer(&data, (uint8_t)eh_unsigned(&data, 1));
        else if (*letters == 'L')
            eh_skip(&data, 1);
        else if (*letters == 'S')
            cie->signal_frame = true;
        else if (*letters != 'B')
            return !in->bad; /* a newer letter: its data have a length, so the rest is still sound
                              */
    }
    return !in->bad && !data.bad;
}

static bool read_cie(const struct eh_frame_object *object, uintptr_t address, struct cfa_cie *cie)
{
    struct eh_reader in = reader_at(object, address);
    struct eh_reader body;
    const uint8_t *letters;
    uint64_t version;
    if (!entry_body(&in, &body) || eh_unsigned(&body, 4) != 0)
        return false;
    version = eh_unsigned(&body, 1);
    letters = body.at;
    while (eh_unsigned(&body, 1) != 0)
        continue;
    if (version == 4 && eh_unsigned(&body, 2) != 8) /* address size 8, no segment selectors */
        return false;
    *cie = (struct cfa_cie){.fde_encoding = EH_PE_ABSPTR};
    cie->code_align = eh_uleb(&body);
    cie->data_align = eh_sleb(&body);
    cie->return_register = version == 1 ? eh_unsigned(&body, 1) : eh_uleb(&body);
    if (body.bad || (version != 1 && version != 3 && version != 4))
        return false;
    if (!read_augmentation(&body, letters, cie))
        return false;
    cie->instructions = body;
    return !body.bad;
}

/* One function's entry: [start, start + size), and its instructions. */
struct fde {
    struct cfa_cie cie;
    uintptr_t start;
    uintptr_t size;
    struct eh_reader instructions;
};

/* body begins behind the length. False for a CIE and for what cannot be read. */
static bool read_fde(const struct eh_frame_object *object, struct eh_reader body, struct fde *fde)
{
    uintptr_t place = (uintptr_t)body.at;
    uint64_t back = eh_unsigned(&body, 4);
    if (body.bad || back == 0 || !read_cie(object, place - back, &fde->cie))
        return false;
    fde->start = eh_pointer(&body, fde->cie.fde_encoding, object->header);
    fde->size = eh_pointer(&body, fde->cie.fde_encoding & 0x0f, 0);
    if (fde->cie.has_lengths)
        eh_skip(&body, eh_uleb(&body));
    fde->instructions = body;
    return !body.bad;
}

/* .eh_frame_hdr: where .eh_frame begins and the table of (function, FDE) pairs sorted by function.
 */
struct search_table {
    uintptr_t frames;
    const uint8_t *entries;
    size_t count;
    size_t entry_size; /* 0: no table that can be searched */
    uint8_t encoding;
};

static size_t encoded_size(uint8_t encoding)
{
    static const uint8_t sizes[16] = {
        [EH_PE_ABSPTR] = 8, [EH_PE_UDATA2] = 2, [EH_PE_UDATA4] = 4, [EH_PE_UDATA8] = 8,
        [EH_PE_SDATA2] = 2, [EH_PE_SDATA4] = 4, [EH_PE_SDATA8] = 8,
    };
    return sizes[encoding & 0x0f];
}

static bool read_header(const struct eh_frame_object *object, struct search_table *table)
{
    struct eh_reader in = reader_at(object, object->header);
    uint64_t version = eh_unsigned(&in, 1);
    uint8_t frames_encoding = (uint8_t)eh_unsigned(&in, 1);
    uint8_t count_encoding = (uint8_t)eh_unsigned(&in, 1);
    uint64_t count;
    *table = (struct search_table){.encoding = (uint8_t)eh_unsigned(&in, 1)};
    if (in.bad || version != 1 || frames_encoding == EH_PE_OMIT)
        return false;
    table->frames = eh_pointer(&in, frames_encoding, object->header);
    if (in.bad)
        return false;
    if (count_encoding == EH_PE_OMIT || table->encoding == EH_PE_OMIT)
        return true;
    count = eh_pointer(&in, count_encoding, object->header);
    table->entries = in.at;
    table->entry_size = 2 * encoded_size(table->encoding);
    if (in.bad || table->entry_size == 0 || count > eh_left(&in) / table->entry_size)
        table->entry_size = 0;
    table->count = count;
    return true;
}

/* The address in the table's entry: its function (word 0) or its FDE (word 1). */
static uintptr_t table_address(const struct eh_frame_object *object,
                               const struct search_table *table, size_t entry, size_t word)
{
    const uint8_t *at = table->entries + (2 * entry + word) * (table->entry_size / 2);
    struct eh_reader in = {at, at + table->entry_size / 2, false};
    return eh_pointer(&in, table->encoding, object->header);
}

/* The last entry whose function begins at or before pc. */
static bool search(const struct eh_frame_object *object, const struct search_table *table,
                   uintptr_t pc, struct fde *fde)
{
    size_t low = 0;
    size_t high = table->count;
    struct eh_reader in;
    struct eh_reader body;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table_address(object, table, middle, 0) <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    in = reader_at(object, table_address(object, table, low - 1, 1));
    return entry_body(&in, &body) && read_fde(object, body, fde) && pc - fde->start < fde->size;
}

static bool search_linear(const struct eh_frame_object *object, uintptr_t frames, uintptr_t pc,
                          struct fde *fde)
{
    struct eh_reader in = reader_at(object, frames);
    struct eh_reader body;
    for (unsigned i = 0; i < LINEAR_ENTRIES_MAX && entry_body(&in, &body); i++) {
        if (read_fde(object, body, fde) && pc - fde->start < fde->size)
            return true;
    }
    return false;
}

/* mov $15 (rt_sigreturn) to eax or rax; syscall: what glibc, musl and others return through. */
static bool is_sigreturn(const struct eh_frame_object *object, uintptr_t pc)
{
    static const uint8_t with_rax[9] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
    static const uint8_t with_eax[7] = {0xb8, 15, 0, 0, 0, 0x0f, 0x05};
    size_t left = pc >= object->code && pc < object->code_limit ? object->code_limit - pc : 0;
    return (left >= sizeof(with_rax) &&
            memcmp((const void *)pc, with_rax, sizeof(with_rax)) == 0) ||
           (left >= sizeof(with_eax) && memcmp((const void *)pc, with_eax, sizeof(with_eax)) == 0);
}

static bool find_fde(const struct eh_frame_object *object, const struct search_table *table,
                     uintptr_t pc, struct fde *fde)
{
    return table->entry_size != 0 ? search(object, table, pc, fde)
                                  : search_linear(object, table->frames, pc, fde);
}

/* pc is between functions. When a function begins right behind it, a walk got here by a return
 * address that no call has pushed: makecontext gives coroutines the start of a function to return
 * to. So that is where the stack begins. */
static struct frame_rule rule_between(const struct eh_frame_object *object,
                                      const struct search_table *table, uintptr_t pc)
{
    struct fde fde;
    if (find_fde(object, table, pc + 1, &fde) && fde.start == pc + 1)
        return (struct frame_rule){.kind = FRAME_ROOT, .interrupts = true};
    return (struct frame_rule){.kind = FRAME_NONE};
}

struct frame_rule eh_frame_rule(const struct eh_frame_object *object, uintptr_t pc)
{
    struct search_table table;
    struct frame_rule rule = {.kind = FRAME_NONE};
    struct fde fde;
    if (!read_header(object, &table))
        return rule;
    if (!find_fde(object, &table, pc, &fde))
        return rule_between(object, &table, pc);
    /* The handler "returns" to the trampoline's first byte, so its pc comes here as one less. */
    if (fde.cie.signal_frame && (is_sigreturn(object, pc + 1) || is_sigreturn(object, pc)))
        return (struct frame_rule){.kind = FRAME_SIGNAL, .interrupts = true};
    rule = cfa_program_rule(&fde.cie, fde.instructions, fde.start, pc);
    rule.interrupts = fde.cie.signal_frame;
    return rule;
}
