/* allocator_library.c: whether a file can be the allocator behind the runtime library.
 *
 * The loader itself would only warn about most of this and start the program without the library;
 * one that has malloc and not free would leave its objects to glibc's. Functions beyond the four
 * may be missing: the runtime makes up for them. Source: System V ABI, chapter 5 (dynamic section,
 * symbol table); DF_1_PIE in binutils' elf/common.h. */
#include "cli/allocator_library.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "cli/loader.h"
#include "cli/target_elf.h"
#include "proto/error.h"
#include "symbolize/elf_file.h"

static const char *const needed[] = {"malloc", "calloc", "realloc", "free"};

enum { NEEDED_COUNT = sizeof(needed) / sizeof(needed[0]) };

static bool is_exported(const Elf64_Sym *symbol)
{
    unsigned type = ELF64_ST_TYPE(symbol->st_info), binding = ELF64_ST_BIND(symbol->st_info);
    unsigned visibility = ELF64_ST_VISIBILITY(symbol->st_other);
    return symbol->st_shndx != SHN_UNDEF && binding != STB_LOCAL &&
           (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
           (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

static bool has_name(struct elf_bytes names, uint32_t offset, const char *name)
{
    size_t size = strlen(name) + 1;
    return offset < names.size && size <= names.size - offset &&
           memcmp(names.at + offset, name, size) == 0;
}

/* Whether the dynamic symbol table in section defines name for others. */
static bool exports_in(const struct elf_file *file, const struct elf_section *section,
                       const char *name)
{
    if (section->link >= file->section_count)
        return false;
    struct elf_bytes rows = elf_file_section_bytes(file, section);
    struct elf_bytes names = elf_file_section_bytes(file, &file->sections[section->link]);
    Elf64_Sym symbol;
    for (; rows.size >= sizeof(symbol); rows.at += sizeof(symbol), rows.size -= sizeof(symbol)) {
        memcpy(&symbol, rows.at, sizeof(symbol));
        if (is_exported(&symbol) && has_name(names, symbol.st_name, name))
            return true;
    }
    return false;
}

static bool exports(const struct elf_file *file, const char *name)
{
    for (uint32_t i = 0; i < file->section_count; i++)
        if (file->sections[i].type == SHT_DYNSYM && exports_in(file, &file->sections[i], name))
            return true;
    return false;
}

/* A position-independent executable is of the type of a shared object too. */
static bool is_executable(const struct elf_file *file)
{
    for (uint32_t i = 0; i < file->segment_count; i++) {
        const struct elf_segment *segment = &file->segments[i];
        if (segment->type != PT_DYNAMIC || segment->offset > file->size ||
            segment->file_size > file->size - segment->offset)
            continue;
        const uint8_t *rows = file->bytes + segment->offset;
        Elf64_Dyn row;
        for (uint64_t at = 0; segment->file_size - at >= sizeof(row); at += sizeof(row)) {
            memcpy(&row, rows + at, sizeof(row));
            if (row.d_tag == DT_FLAGS_1)
                return (row.d_un.d_val & DF_1_PIE) != 0;
            if (row.d_tag == DT_NULL)
                break;
        }
    }
    return false;
}

static bool check_file(const struct elf_file *file, struct error *error)
{
    Elf64_Ehdr header;
    memcpy(&header, file->bytes, sizeof(header)); /* opened: it is that long */
    if (header.e_type != ET_DYN || is_executable(file)) {
        error_set(error, file->name, "not a shared library");
        return false;
    }
    for (size_t i = 0; i < NEEDED_COUNT; i++) {
        if (exports(file, needed[i]))
            continue;
        if (i == 0)
            error_set(error, file->name, "not an allocator: it exports no malloc");
        else
            error_set(error, file->name, "not a whole allocator: it exports %s, but no %s",
                      needed[0], needed[i]);
        return false;
    }
    return true;
}

static bool is_32bit(const char *path)
{
    struct target_elf elf = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    target_elf_read(fd, &elf);
    close(fd);
    return elf.is_elf && !elf.is_64bit;
}

bool allocator_library_check(const char *path, struct error *error)
{
    struct elf_file *file = elf_file_open(path, error);
    if (!file) {
        if (is_32bit(path))
            error_set(error, path, "a 32-bit library, while only x86-64 programs can be profiled");
        return false;
    }
    bool ok = check_file(file, error);
    elf_file_close(file);
    char reason[512];
    if (ok && !loader_accepts(path, reason, sizeof(reason))) {
        error_set(error, path, "cannot be loaded: %s", reason);
        return false;
    }
    return ok;
}
