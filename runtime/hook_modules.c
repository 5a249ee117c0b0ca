/* hook_modules.c: which object was at which address.
 *
 * Hook-safe: lock-free, reads only what the loader has mapped. The executable segment, its file
 * offset and the build id come from the program headers, which lie in the object's first mapped
 * page; that is what /proc/PID/maps would show, with no file opened. */
#include "runtime/hook_modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include "runtime/hook_shared.h"
#include "runtime/hook_stack.h"
#include "runtime/hook_stack_memory.h"
#include "runtime/hook_store.h"

/* The loader's object behind each table entry; private, by the entry's index. */
static struct link_map *module_object[4096];

static uint32_t modules_used(void)
{
    uint32_t count = shared_load_u32(&store.header->module_count, memory_order_relaxed);
    uint32_t capacity = store.geometry.module_capacity;
    return count < capacity ? count : capacity;
}

static uint64_t page_down(uint64_t address)
{
    return address & ~(uint64_t)(STORE_PAGE - 1);
}

/* The program headers of a loaded object, from the ELF header at its start; NULL when there is
 * none or they do not lie in the first page. */
static const Elf64_Phdr *program_headers(const struct dl_find_object *object, unsigned *count)
{
    const Elf64_Ehdr *header = object->dlfo_map_start;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phentsize != sizeof(Elf64_Phdr))
        return NULL;
    if (header->e_phoff + (uint64_t)header->e_phnum * sizeof(Elf64_Phdr) > STORE_PAGE)
        return NULL;
    *count = header->e_phnum;
    return (const Elf64_Phdr *)((const char *)header + header->e_phoff);
}

/* The GNU build id in the notes at [note, limit): its length, 0 when there is none. */
static uint32_t read_build_id(const uint8_t *note, const uint8_t *limit, uint8_t *build_id)
{
    while ((size_t)(limit - note) >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr header;
        memcpy(&header, note, sizeof(header));
        uint64_t name = sizeof(header);
        uint64_t description = name + ((uint64_t)header.n_namesz + 3) / 4 * 4;
        uint64_t next = description + ((uint64_t)header.n_descsz + 3) / 4 * 4;
        if (next > (uint64_t)(limit - note))
            return 0;
        if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
            memcmp(note + name, "GNU", 4) == 0 && header.n_descsz <= STORE_BUILD_ID_BYTES) {
            memcpy(build_id, note + description, header.n_descsz);
            return header.n_descsz;
        }
        note += next;
    }
    return 0;
}

/* Fills the entry from the object's program headers; the mapped range where there are none. */
static void describe(struct store_module *module, uintptr_t pc, const struct dl_find_object *object)
{
    uint64_t bias = object->dlfo_link_map->l_addr;
    module->load_bias = bias;
    module->text_start = page_down((uintptr_t)object->dlfo_map_start);
    module->text_limit = store_page_up((uintptr_t)object->dlfo_map_end);
    unsigned count = 0;
    const Elf64_Phdr *headers = program_headers(object, &count);
    for (unsigned i = 0; headers != NULL && i < count; i++) {
        const Elf64_Phdr *segment = &headers[i];
        uint64_t start = bias + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0 && pc >= start &&
            pc - start < segment->p_memsz) {
            module->text_start = page_down(start);
            module->text_limit = store_page_up(start + segment->p_memsz);
            module->file_offset = page_down(segment->p_offset);
        } else if (segment->p_type == PT_NOTE && module->build_id_length == 0 &&
                   start >= (uintptr_t)object->dlfo_map_start &&
                   start + segment->p_memsz <= (uintptr_t)object->dlfo_map_end) {
            const uint8_t *note = (const uint8_t *)(uintptr_t)start;
            module->build_id_length =
                read_build_id(note, note + segment->p_memsz, module->build_id);
        }
    }
}

static void keep_path(struct store_module *module, const char *path)
{
    size_t length = strlen(path);
    uint32_t capacity = store.geometry.text_capacity;
    if (length >= STORE_PAGE ||
        shared_load_u32(&store.header->text_used, memory_order_relaxed) > capacity - STORE_PAGE)
        return; /* the collector still has the mapping's path from /proc */
    module->path_offset = shared_add_u32(&store.header->text_used, (uint32_t)length);
    if (module->path_offset > capacity - STORE_PAGE)
        return;
    memcpy(store.text + module->path_offset, path, length);
    module->path_length = (uint32_t)length;
}

/* Marks all nodes whose pc lies in the module as the module's, for good. */
static void retire(uint32_t index)
{
    struct store_module *module = &store.modules[index];
    uint64_t start = module->text_start;
    uint64_t length = module->text_limit - start;
    uint32_t state = STORE_MODULE_LOADED;
    if (!shared_swap_u32(&module->state, &state, STORE_MODULE_GONE))
        return;
    stack_forget((uintptr_t)start, (uintptr_t)(start + length));
    uint32_t count = shared_load_u32(&store.header->node_count, memory_order_acquire);
    if (count > store.geometry.node_capacity)
        count = store.geometry.node_capacity;
    for (uint32_t id = 1; id < count; id++) {
        uint64_t pc = shared_load_u64(&store.nodes[id].pc_word, memory_order_relaxed);
        if (pc - start < length)
            shared_store_u64(&store.nodes[id].pc_word, pc | (uint64_t)(index + 1) << STORE_PC_BITS,
                             memory_order_relaxed);
    }
    /* Again: a walk of another thread may have found one of these nodes meanwhile. */
    stack_memory_forget();
}

/* True when the object of entry index is in the table for pc; an impostor there is retired. */
static bool is_known(uint32_t index, uintptr_t pc, const struct link_map *object)
{
    struct store_module *module = &store.modules[index];
    /* Acquire: pairs with the release in modules_note; the entry is whole. */
    if (shared_load_u32(&module->state, memory_order_acquire) != STORE_MODULE_LOADED ||
        pc < module->text_start || pc >= module->text_limit)
        return false;
    if (module_object[index] == object)
        return true;
    retire(index);
    return false;
}

void modules_note(uintptr_t pc, const struct dl_find_object *object)
{
    uint32_t used = modules_used();
    for (uint32_t i = 0; i < used; i++)
        if (is_known(i, pc, object->dlfo_link_map))
            return;
    if (used >= store.geometry.module_capacity) {
        store_loss(STORE_LOSS_MODULE_TABLE_FULL, 0);
        return;
    }
    uint32_t index = shared_add_u32(&store.header->module_count, 1);
    if (index >= store.geometry.module_capacity) {
        store_loss(STORE_LOSS_MODULE_TABLE_FULL, 0);
        return;
    }
    struct store_module *module = &store.modules[index];
    describe(module, pc, object);
    keep_path(module, object->dlfo_link_map->l_name);
    module_object[index] = object->dlfo_link_map;
    /* Release: pairs with the acquire in is_known and in the collector. */
    shared_store_u32(&module->state, STORE_MODULE_LOADED, memory_order_release);
    store_wake();
}

void modules_sweep(void)
{
    uint32_t used = modules_used();
    for (uint32_t i = 0; i < used; i++) {
        struct store_module *module = &store.modules[i];
        if (shared_load_u32(&module->state, memory_order_acquire) != STORE_MODULE_LOADED)
            continue;
        struct dl_find_object object;
        if (_dl_find_object((void *)(uintptr_t)module->text_start, &object) != 0 ||
            object.dlfo_link_map != module_object[i])
            retire(i);
    }
}
