/* elf_file.c: ELF headers, sections, segments and notes out of untrusted bytes.
 *
 * One bounded reader: every table is checked against the size of the file once, when the file is
 * opened, and copied into structs of our own; names and contents are handed out as ranges that lie
 * inside the file. What is damaged is left out (a section without a name, a file without a build
 * id); only a damaged ELF header makes the whole file unreadable. It does not follow relocations
 * and does not decompress (section_data.c does).
 *
 * Source: System V ABI, chapters 4 and 5; .gnu_debuglink: GDB manual, "Separate Debug Files". */
#include "symbolize/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "proto/arena.h"
#include "proto/error.h"

/* More than any file has, few enough that a hostile count costs nothing. */
#define SECTION_COUNT_MAX (1u << 20)

static bool inside(const struct elf_file *file, uint64_t offset, uint64_t size)
{
    return offset <= file->size && size <= file->size - offset;
}

static const char *text_at(struct elf_bytes table, uint64_t offset)
{
    if (offset >= table.size || !memchr(table.at + offset, '\0', table.size - offset))
        return "";
    return (const char *)table.at + offset;
}

struct elf_bytes elf_file_section_bytes(const struct elf_file *file,
                                        const struct elf_section *section)
{
    struct elf_bytes none = {NULL, 0};
    if (!section || section->type == SHT_NOBITS || section->type == SHT_NULL ||
        section->size == 0 || !inside(file, section->offset, section->size))
        return none;
    return (struct elf_bytes){file->bytes + section->offset, (size_t)section->size};
}

const struct elf_section *elf_file_section(const struct elf_file *file, const char *name)
{
    for (uint32_t i = 0; i < file->section_count; i++) {
        if (strcmp(file->sections[i].name, name) == 0)
            return &file->sections[i];
    }
    return NULL;
}

/* --- opening ------------------------------------------------------------------------------ */

static void read_segments(struct elf_file *file, const Elf64_Ehdr *header)
{
    uint64_t count = header->e_phnum;
    if (header->e_phentsize != sizeof(Elf64_Phdr) ||
        !inside(file, header->e_phoff, count * sizeof(Elf64_Phdr)))
        return;
    file->segments = heap_alloc(count * sizeof(*file->segments) + 1);
    file->segment_count = (uint32_t)count;
    for (uint64_t i = 0; i < count; i++) {
        Elf64_Phdr row;
        memcpy(&row, file->bytes + header->e_phoff + i * sizeof(row), sizeof(row));
        file->segments[i] = (struct elf_segment){.type = row.p_type,
                                                 .flags = row.p_flags,
                                                 .offset = row.p_offset,
                                                 .file_size = row.p_filesz,
                                                 .address = row.p_vaddr,
                                                 .memory_size = row.p_memsz};
    }
}

static struct elf_section section_of_row(const Elf64_Shdr *row)
{
    return (struct elf_section){.name = "",
                                .type = row->sh_type,
                                .link = row->sh_link,
                                .flags = row->sh_flags,
                                .address = row->sh_addr,
                                .offset = row->sh_offset,
                                .size = row->sh_size};
}

/* Counts that do not fit the header are in section 0 (System V ABI, "Extended section numbers"). */
static void read_sections(struct elf_file *file, const Elf64_Ehdr *header)
{
    Elf64_Shdr row;
    if (header->e_shoff == 0 || header->e_shentsize != sizeof(row) ||
        !inside(file, header->e_shoff, sizeof(row)))
        return;
    memcpy(&row, file->bytes + header->e_shoff, sizeof(row));
    uint64_t count = header->e_shnum ? header->e_shnum : row.sh_size;
    uint32_t name_index = header->e_shstrndx == SHN_XINDEX ? row.sh_link : header->e_shstrndx;
    if (count == 0 || count > SECTION_COUNT_MAX ||
        !inside(file, header->e_shoff, count * sizeof(row)))
        return;
    file->sections = heap_alloc(count * sizeof(*file->sections));
    file->section_count = (uint32_t)count;
    uint32_t *names = heap_alloc(count * sizeof(*names));
    for (uint64_t i = 0; i < count; i++) {
        memcpy(&row, file->bytes + header->e_shoff + i * sizeof(row), sizeof(row));
        file->sections[i] = section_of_row(&row);
        names[i] = row.sh_name;
    }
    if (name_index < count) {
        struct elf_bytes table = elf_file_section_bytes(file, &file->sections[name_index]);
        for (uint64_t i = 0; i < count; i++)
            file->sections[i].name = text_at(table, names[i]);
    }
    free(names);
}

static void write_hex(char *text, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * count] = '\0';
}

/* Looks for NT_GNU_BUILD_ID among notes; all sizes in them are untrusted. */
static bool find_build_id(struct elf_file *file, struct elf_bytes notes)
{
    Elf64_Nhdr note;
    while (notes.size >= sizeof(note)) {
        memcpy(&note, notes.at, sizeof(note));
        uint64_t name_size = ((uint64_t)note.n_namesz + 3) & ~3ull;
        uint64_t body_size = ((uint64_t)note.n_descsz + 3) & ~3ull;
        uint64_t left = notes.size - sizeof(note);
        if (name_size > left || note.n_descsz > left - name_size)
            return false;
        const uint8_t *name = notes.at + sizeof(note);
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
            if (note.n_descsz == 0 || note.n_descsz > ELF_BUILD_ID_BYTES)
                return false;
            write_hex(file->build_id, name + name_size, note.n_descsz);
            return true;
        }
        if (body_size > left - name_size)
            return false;
        notes.at += sizeof(note) + name_size + body_size;
        notes.size -= (size_t)(sizeof(note) + name_size + body_size);
    }
    return false;
}

/* Sections first: in a debug file made by objcopy --only-keep-debug the segments point nowhere. */
static void read_build_id(struct elf_file *file)
{
    for (uint32_t i = 0; i < file->section_count; i++) {
        if (file->sections[i].type == SHT_NOTE &&
            find_build_id(file, elf_file_section_bytes(file, &file->sections[i])))
            return;
    }
    if (file->section_count > 0)
        return;
    for (uint32_t i = 0; i < file->segment_count; i++) {
        const struct elf_segment *segment = &file->segments[i];
        if (segment->type != PT_NOTE || !inside(file, segment->offset, segment->file_size))
            continue;
        struct elf_bytes notes = {file->bytes + segment->offset, (size_t)segment->file_size};
        if (find_build_id(file, notes))
            return;
    }
}

static bool check_header(const struct elf_file *file, Elf64_Ehdr *header, struct error *error)
{
    if (file->size < SELFMAG || memcmp(file->bytes, ELFMAG, SELFMAG) != 0) {
        error_set(error, file->name, "not an ELF file");
        return false;
    }
    if (file->size < sizeof(*header)) {
        error_set(error, file->name, "truncated ELF header");
        return false;
    }
    memcpy(header, file->bytes, sizeof(*header));
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
        header->e_machine != EM_X86_64) {
        error_set(error, file->name, "not an x86-64 ELF file");
        return false;
    }
    return true;
}

struct elf_file *elf_file_of_memory(const void *bytes, size_t size, const char *name,
                                    struct error *error)
{
    struct elf_file *file = heap_alloc(sizeof(*file));
    char *name_copy = heap_text(name);
    *file = (struct elf_file){.name = name_copy, .bytes = bytes, .size = size};
    Elf64_Ehdr header;
    if (!check_header(file, &header, error)) {
        elf_file_close(file);
        return NULL;
    }
    read_segments(file, &header);
    read_sections(file, &header);
    read_build_id(file);
    return file;
}

struct elf_file *elf_file_of_descriptor(int descriptor, const char *name, struct error *error)
{
    struct stat status;
    if (fstat(descriptor, &status) < 0) {
        error_set_errno(error, name, errno, "cannot be read");
        return NULL;
    }
    if (!S_ISREG(status.st_mode) || status.st_size <= 0) {
        error_set(error, name, S_ISREG(status.st_mode) ? "empty file" : "not a regular file");
        return NULL;
    }
    size_t size = (size_t)status.st_size;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (bytes == MAP_FAILED) {
        error_set_errno(error, name, errno, "cannot be mapped");
        return NULL;
    }
    struct elf_file *file = elf_file_of_memory(bytes, size, name, error);
    if (!file) {
        munmap(bytes, size);
        return NULL;
    }
    file->is_mapped = true;
    file->device = status.st_dev;
    file->inode = status.st_ino;
    return file;
}

/* O_NONBLOCK: a path from a profile may name a FIFO. */
struct elf_file *elf_file_open(const char *path, struct error *error)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) {
        error_set_errno(error, path, errno, "cannot be opened");
        return NULL;
    }
    struct elf_file *file = elf_file_of_descriptor(descriptor, path, error);
    close(descriptor);
    return file;
}

void elf_file_close(struct elf_file *file)
{
    if (!file)
        return;
    if (file->is_mapped)
        munmap((void *)(uintptr_t)file->bytes, file->size);
    free(file->sections);
    free(file->segments);
    free((void *)(uintptr_t)file->name);
    free(file);
}

/* --- addresses ---------------------------------------------------------------------------- */

static bool segment_address(const struct elf_segment *segment, uint64_t offset, uint64_t *address)
{
    if (segment->type != PT_LOAD || offset < segment->offset ||
        offset - segment->offset >= segment->file_size)
        return false;
    return !__builtin_add_overflow(segment->address, offset - segment->offset, address);
}

/* Two segments may share a page of the file, hence the executable ones first: we look up code. */
bool elf_file_address_of_offset(const struct elf_file *file, uint64_t offset, uint64_t *address)
{
    for (int executable = 1; executable >= 0; executable--) {
        for (uint32_t i = 0; i < file->segment_count; i++) {
            bool is_executable = file->segments[i].flags & PF_X;
            if (is_executable == (bool)executable &&
                segment_address(&file->segments[i], offset, address))
                return true;
        }
    }
    return false;
}

/* --- links to debug files ----------------------------------------------------------------- */

bool elf_file_debug_link(const struct elf_file *file, const char **name, uint32_t *crc)
{
    struct elf_bytes link = elf_file_section_bytes(file, elf_file_section(file, ".gnu_debuglink"));
    *name = text_at(link, 0);
    size_t crc_offset = (strlen(*name) + 1 + 3) & ~(size_t)3;
    if (**name == '\0' || link.size < sizeof(*crc) || crc_offset > link.size - sizeof(*crc))
        return false;
    memcpy(crc, link.at + crc_offset, sizeof(*crc));
    return true;
}

bool elf_file_debug_alt_link(const struct elf_file *file, const char **name,
                             char build_id[2 * ELF_BUILD_ID_BYTES + 1])
{
    struct elf_bytes link =
        elf_file_section_bytes(file, elf_file_section(file, ".gnu_debugaltlink"));
    *name = text_at(link, 0);
    if (**name == '\0')
        return false;
    size_t id_offset = strlen(*name) + 1;
    size_t id_size = link.size - id_offset;
    if (id_size == 0 || id_size > ELF_BUILD_ID_BYTES)
        return false;
    write_hex(build_id, link.at + id_offset, id_size);
    return true;
}

uint32_t elf_file_crc(const struct elf_file *file)
{
    uLong crc = crc32_z(0, NULL, 0);
    return (uint32_t)crc32_z(crc, file->bytes, file->size);
}
