/* target_elf.c: what the headers of an executable say about its loader. Source: System V ABI,
 * chapters 4 and 5 (ELF header, program headers, dynamic section). */
#include "cli/target_elf.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SEGMENTS = 128, MAX_DYNAMIC = 4096 };

static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
    return offset <= INT64_MAX && pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* A NUL-terminated text of the file, cut to size - 1 bytes; "" when it cannot be read. */
static void read_text(int fd, char *text, size_t size, uint64_t offset)
{
    ssize_t got = offset <= INT64_MAX ? pread(fd, text, size - 1, (off_t)offset) : -1;
    text[got > 0 ? got : 0] = '\0';
}

/* The file offset of a virtual address; false when no loaded segment has it. */
static bool file_offset(const Elf64_Phdr *segments, size_t count, uint64_t address,
                        uint64_t *offset)
{
    for (size_t i = 0; i < count; i++) {
        const Elf64_Phdr *segment = &segments[i];
        if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
            address - segment->p_vaddr < segment->p_filesz)
            return !__builtin_add_overflow(segment->p_offset, address - segment->p_vaddr, offset);
    }
    return false;
}

static bool next_dynamic(int fd, const Elf64_Phdr *dynamic, uint64_t index, Elf64_Dyn *entry)
{
    uint64_t offset;
    return index < MAX_DYNAMIC && (index + 1) * sizeof(*entry) <= dynamic->p_filesz &&
           !__builtin_add_overflow(dynamic->p_offset, index * sizeof(*entry), &offset) &&
           read_at(fd, entry, sizeof(*entry), offset) && entry->d_tag != DT_NULL;
}

static bool needs(int fd, const Elf64_Phdr *segments, size_t count, const Elf64_Phdr *dynamic,
                  const char *prefix)
{
    Elf64_Dyn entry;
    uint64_t strings = 0, at;
    for (uint64_t i = 0; next_dynamic(fd, dynamic, i, &entry); i++)
        if (entry.d_tag == DT_STRTAB && !file_offset(segments, count, entry.d_un.d_ptr, &strings))
            return false;
    for (uint64_t i = 0; strings != 0 && next_dynamic(fd, dynamic, i, &entry); i++) {
        if (entry.d_tag != DT_NEEDED || __builtin_add_overflow(strings, entry.d_un.d_val, &at))
            continue;
        char name[64];
        read_text(fd, name, sizeof(name), at);
        if (strncmp(name, prefix, strlen(prefix)) == 0)
            return true;
    }
    return false;
}

static void read_segments(int fd, const Elf64_Ehdr *header, struct target_elf *elf)
{
    Elf64_Phdr segments[MAX_SEGMENTS];
    size_t count = header->e_phnum < MAX_SEGMENTS ? header->e_phnum : MAX_SEGMENTS;
    if (!read_at(fd, segments, count * sizeof(segments[0]), header->e_phoff))
        return;
    for (size_t i = 0; i < count; i++) {
        if (segments[i].p_type == PT_INTERP)
            read_text(fd, elf->interpreter, sizeof(elf->interpreter), segments[i].p_offset);
        if (segments[i].p_type == PT_DYNAMIC)
            elf->needs_asan = needs(fd, segments, count, &segments[i], "libasan.so");
    }
}

void target_elf_read(int fd, struct target_elf *elf)
{
    *elf = (struct target_elf){0};
    Elf64_Ehdr header = {0};
    if (!read_at(fd, header.e_ident, sizeof(header.e_ident), 0) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return;
    elf->is_elf = true;
    elf->is_64bit = header.e_ident[EI_CLASS] == ELFCLASS64;
    if (!read_at(fd, &header, sizeof(Elf32_Ehdr), 0))
        return;
    elf->machine = header.e_machine; /* at the same place in both classes */
    elf->is_x86_64 =
        elf->is_64bit && header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_machine == EM_X86_64;
    if (elf->is_x86_64 && read_at(fd, &header, sizeof(header), 0) &&
        header.e_phentsize == sizeof(Elf64_Phdr))
        read_segments(fd, &header, elf);
}
