/* store_modules.c: which module of a snapshot an address belongs to, and its mapping.
 *
 * The loaded modules are flattened into disjoint spans once; a look-up is a binary search. */
#include "cli/store_modules.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/store_reader.h"
#include "proto/arena.h"
#include "proto/profile.h"

/* Addresses [start, next span's start) belong to module. */
struct span {
    uint64_t start;
    struct profile_mapping *mapping; /* NULL: no module is there */
};

struct store_modules {
    uint32_t count;
    struct profile_mapping **mappings; /* by module index, NULL where there is none */
    struct span *spans;
    size_t span_count;
};

struct order {
    uint32_t index;
    bool is_main;
    uint64_t start;
};

static bool is_valid(const struct store_module *module)
{
    return (module->state == STORE_MODULE_LOADED || module->state == STORE_MODULE_GONE) &&
           module->text_start < module->text_limit && module->text_limit <= STORE_PC_MASK;
}

/* Marks the modules that tagged nodes name; an array of module_count flags, the caller frees. */
static bool *named_modules(const struct store_snapshot *snapshot)
{
    bool *named = heap_alloc(snapshot->module_count + 1);
    memset(named, 0, snapshot->module_count + 1);
    for (uint32_t i = 0; i < snapshot->node_count; i++) {
        uint64_t tag = snapshot->nodes[i].pc_word >> STORE_PC_BITS;
        if (tag != 0 && tag <= snapshot->module_count)
            named[tag - 1] = true;
    }
    return named;
}

static int by_place(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    if (x->is_main != y->is_main)
        return x->is_main ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* The modules worth a mapping in the order of the profile; the caller frees. */
static struct order *sorted_modules(const struct store_snapshot *snapshot, size_t *count)
{
    bool *named = named_modules(snapshot);
    struct order *order = heap_alloc((snapshot->module_count + 1) * sizeof(*order));
    *count = 0;
    for (uint32_t i = 0; i < snapshot->module_count; i++) {
        const struct store_module *module = &snapshot->modules[i];
        if (is_valid(module) && (module->state == STORE_MODULE_LOADED || named[i]))
            order[(*count)++] = (struct order){i, module->path_length == 0, module->text_start};
    }
    qsort(order, *count, sizeof(*order), by_place);
    free(named);
    return order;
}

static const char *module_path(struct profile *profile, const struct store_snapshot *snapshot,
                               const struct store_module *module, const char *executable)
{
    if (module->path_length == 0)
        return profile_intern(profile, executable);
    if (module->path_offset >= snapshot->text_size ||
        module->path_length > snapshot->text_size - module->path_offset)
        return profile_intern(profile, "[unknown]");
    const char *text = snapshot->text + module->path_offset;
    size_t length = strnlen(text, module->path_length);
    static const char vdso[] = "linux-vdso.so.1";
    if (length == sizeof(vdso) - 1 && memcmp(text, vdso, length) == 0)
        return profile_intern(profile, "[vdso]");
    return profile_intern_length(profile, text, length);
}

static void build_id_text(const struct store_module *module, char *text)
{
    uint32_t length = module->build_id_length;
    if (length > STORE_BUILD_ID_BYTES)
        length = 0;
    static const char digits[] = "0123456789abcdef";
    for (uint32_t i = 0; i < length; i++) {
        text[2 * i] = digits[module->build_id[i] >> 4];
        text[2 * i + 1] = digits[module->build_id[i] & 15];
    }
    text[2 * length] = '\0';
}

static struct profile_mapping *add_mapping(struct profile *profile,
                                           const struct store_snapshot *snapshot,
                                           const struct store_module *module,
                                           const char *executable)
{
    char build_id[2 * STORE_BUILD_ID_BYTES + 1];
    build_id_text(module, build_id);
    return profile_add_mapping(profile,
                               &(struct profile_mapping){
                                   .memory_start = module->text_start,
                                   .memory_limit = module->text_limit,
                                   .file_offset = module->file_offset,
                                   .filename = module_path(profile, snapshot, module, executable),
                                   .build_id = build_id,
                               });
}

static int by_address(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x == *y ? 0 : *x < *y ? -1 : 1;
}

/* The mapping of the last loaded module that covers address. */
static struct profile_mapping *covering(const struct store_modules *modules,
                                        const struct store_snapshot *snapshot, uint64_t address)
{
    for (uint32_t i = modules->count; i-- > 0;) {
        const struct store_module *module = &snapshot->modules[i];
        if (modules->mappings[i] && module->state == STORE_MODULE_LOADED &&
            module->text_start <= address && address < module->text_limit)
            return modules->mappings[i];
    }
    return NULL;
}

/* Between two neighbouring ends of modules the answer is the same for all addresses. Quadratic in
 * the number of modules, which the store bounds to a few thousand. */
static void make_spans(struct store_modules *modules, const struct store_snapshot *snapshot)
{
    uint64_t *ends = heap_alloc((2 * (size_t)modules->count + 1) * sizeof(*ends));
    size_t count = 0;
    for (uint32_t i = 0; i < modules->count; i++) {
        if (modules->mappings[i] && snapshot->modules[i].state == STORE_MODULE_LOADED) {
            ends[count++] = snapshot->modules[i].text_start;
            ends[count++] = snapshot->modules[i].text_limit;
        }
    }
    qsort(ends, count, sizeof(*ends), by_address);
    modules->spans = heap_alloc((count + 1) * sizeof(*modules->spans));
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || ends[i] != ends[i - 1])
            modules->spans[modules->span_count++] =
                (struct span){ends[i], covering(modules, snapshot, ends[i])};
    }
    free(ends);
}

struct store_modules *store_modules_new(struct profile *profile,
                                        const struct store_snapshot *snapshot,
                                        const char *executable)
{
    struct store_modules *modules = heap_alloc(sizeof(*modules));
    *modules = (struct store_modules){.count = snapshot->module_count};
    size_t size = ((size_t)modules->count + 1) * sizeof(*modules->mappings);
    modules->mappings = heap_alloc(size);
    memset(modules->mappings, 0, size);
    size_t count;
    struct order *order = sorted_modules(snapshot, &count);
    for (size_t i = 0; i < count; i++) {
        const struct store_module *module = &snapshot->modules[order[i].index];
        modules->mappings[order[i].index] = add_mapping(profile, snapshot, module, executable);
    }
    free(order);
    make_spans(modules, snapshot);
    return modules;
}

void store_modules_free(struct store_modules *modules)
{
    if (!modules)
        return;
    free(modules->mappings);
    free(modules->spans);
    free(modules);
}

struct profile_mapping *store_modules_find(const struct store_modules *modules, uint64_t pc_word)
{
    uint64_t tag = pc_word >> STORE_PC_BITS;
    uint64_t pc = pc_word & STORE_PC_MASK;
    if (tag != 0 && tag <= modules->count && modules->mappings[tag - 1]) {
        struct profile_mapping *mapping = modules->mappings[tag - 1];
        return pc >= mapping->memory_start && pc < mapping->memory_limit ? mapping : NULL;
    }
    size_t low = 0, high = modules->span_count; /* the last span that starts at or below pc */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (modules->spans[middle].start <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? NULL : modules->spans[low - 1].mapping;
}
