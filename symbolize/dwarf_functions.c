/* dwarf_functions.c: walks the DIE tree of a unit as little as it can.
 *
 * First only the outer levels are read (namespaces, classes and the heads of functions): most of a
 * unit's DIEs are inside functions, and only functions that are asked for are opened. A function
 * defined inside another one (a local class, a lambda, GNU C's nested functions) is not found so;
 * the first address that nobody holds makes us read the bodies too, once a unit.
 *
 * A function that is asked for is read whole into an array of inlined calls, parents first. Depth
 * is bounded by WALK_DEPTH_MAX, also against damaged input. Source: DWARF 5, section 3.3. */
#include "symbolize/dwarf_functions.h"

#include <libdwarf/dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "proto/arena.h"
#include "symbolize/address_index.h"
#include "symbolize/dwarf_die.h"
#include "symbolize/dwarf_object.h"

#define WALK_DEPTH_MAX 200
#define NO_PARENT SIZE_MAX

struct inlined_call {
    struct dwarf_scope scope;
    size_t parent; /* in calls, or NO_PARENT */
    size_t first_range, range_count;
};

struct function {
    uint64_t die_offset;
    uint64_t entry;
    bool is_open; /* what follows has been read */
    struct inlined_call *calls;
    size_t call_count, call_capacity;
    struct dwarf_ranges ranges; /* of all calls */
};

struct container {
    uint64_t begin, end; /* offsets of its DIE and of the first one behind it */
    const char *name;
};

struct dwarf_functions {
    struct dwarf_object *object;
    uint64_t unit_offset;
    uint64_t base;
    bool nests;      /* namespaces and classes may hold functions */
    bool has_bodies; /* nested functions are known too */
    struct function *items;
    size_t count, capacity;
    struct address_index index;
    struct container *containers; /* parents before children */
    size_t container_count, container_capacity;
};

/* --- finding the functions ---------------------------------------------------------------- */

static void add_function(struct dwarf_functions *functions, Dwarf_Die die)
{
    struct dwarf_ranges ranges = {0};
    die_ranges(functions->object, die, functions->base, &ranges);
    if (ranges.count > 0) {
        functions->items = heap_grow(functions->items, &functions->capacity, functions->count + 1,
                                     sizeof(*functions->items));
        struct function *function = &functions->items[functions->count];
        *function = (struct function){.die_offset = die_offset(functions->object, die),
                                      .entry = UINT64_MAX};
        /* The entry is the first range: the cold part of a function may lie before it. */
        function->entry = ranges.items[0].low;
        for (size_t i = 0; i < ranges.count; i++)
            address_index_add(&functions->index, ranges.items[i].low, ranges.items[i].limit,
                              functions->count);
        functions->count++;
    }
    free(ranges.items);
}

/* In C, where most of a unit are structures, none of them can hold a function. */
static bool is_container(const struct dwarf_functions *functions, Dwarf_Half tag)
{
    if (!functions->nests)
        return false;
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type ||
           tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_interface_type ||
           tag == DW_TAG_enumeration_type;
}

static bool is_body(Dwarf_Half tag)
{
    return tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
           tag == DW_TAG_inlined_subroutine || tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

static size_t open_container(struct dwarf_functions *functions, Dwarf_Die die)
{
    const char *name = die_text(functions->object, die, DW_AT_name);
    bool is_namespace = die_tag(functions->object, die) == DW_TAG_namespace;
    functions->containers =
        heap_grow(functions->containers, &functions->container_capacity,
                  functions->container_count + 1, sizeof(*functions->containers));
    functions->containers[functions->container_count] = (struct container){
        .begin = die_offset(functions->object, die),
        .end = UINT64_MAX,
        .name = name           ? name
                : is_namespace ? "(anonymous namespace)"
                               : NULL,
    };
    return functions->container_count++;
}

/* The container and, if still open, those inside it end at offset. */
static void close_container(struct dwarf_functions *functions, size_t first, uint64_t offset)
{
    for (size_t i = first; i < functions->container_count; i++) {
        if (functions->containers[i].end == UINT64_MAX)
            functions->containers[i].end = offset;
    }
}

/* Recursive, but never deeper than WALK_DEPTH_MAX. parent is freed by the caller. */
static void walk_children(struct dwarf_functions *functions, Dwarf_Die parent, int depth,
                          bool with_bodies)
{
    Dwarf_Die die = depth < WALK_DEPTH_MAX ? die_child(functions->object, parent) : NULL;
    while (die) {
        Dwarf_Half tag = die_tag(functions->object, die);
        size_t container = SIZE_MAX;
        if (tag == DW_TAG_subprogram)
            add_function(functions, die);
        if (is_container(functions, tag))
            container = open_container(functions, die);
        if (container != SIZE_MAX || (with_bodies && is_body(tag)))
            walk_children(functions, die, depth + 1, with_bodies);
        Dwarf_Die next = die_sibling(functions->object, die);
        if (next && container != SIZE_MAX)
            close_container(functions, container, die_offset(functions->object, next));
        die_free(die);
        die = next;
    }
}

static void forget_functions(struct dwarf_functions *functions)
{
    for (size_t i = 0; i < functions->count; i++) {
        free(functions->items[i].calls);
        free(functions->items[i].ranges.items);
    }
    functions->count = 0;
    functions->container_count = 0;
    address_index_done(&functions->index);
}

struct dwarf_functions *dwarf_functions_read(struct dwarf_object *object, Dwarf_Die unit_die,
                                             uint64_t base, bool nests)
{
    struct dwarf_functions *functions = heap_alloc(sizeof(*functions));
    *functions = (struct dwarf_functions){.object = object, .base = base, .nests = nests};
    if (!unit_die)
        return functions;
    functions->unit_offset = die_offset(functions->object, unit_die);
    walk_children(functions, unit_die, 0, false);
    address_index_sort(&functions->index);
    return functions;
}

static void read_bodies(struct dwarf_functions *functions)
{
    Dwarf_Die unit_die = die_at(functions->object, functions->unit_offset);
    functions->has_bodies = true;
    if (!unit_die)
        return;
    forget_functions(functions);
    walk_children(functions, unit_die, 0, true);
    address_index_sort(&functions->index);
    die_free(unit_die);
}

void dwarf_functions_free(struct dwarf_functions *functions)
{
    if (!functions)
        return;
    forget_functions(functions);
    free(functions->items);
    free(functions->containers);
    free(functions);
}

size_t dwarf_functions_containers(const struct dwarf_functions *functions, uint64_t die_offset,
                                  const char **names, size_t capacity)
{
    size_t count = 0;
    for (size_t i = 0; i < functions->container_count && count < capacity; i++) {
        const struct container *container = &functions->containers[i];
        if (container->begin < die_offset && die_offset < container->end && container->name)
            names[count++] = container->name;
    }
    return count;
}

/* --- inlined calls ------------------------------------------------------------------------ */

static uint32_t number32(struct dwarf_functions *functions, Dwarf_Die die, Dwarf_Half attribute)
{
    uint64_t value = die_number(functions->object, die, attribute, 0);
    return value > UINT32_MAX ? 0 : (uint32_t)value;
}

static size_t add_call(struct dwarf_functions *functions, struct function *function, Dwarf_Die die,
                       size_t parent)
{
    size_t first = function->ranges.count;
    die_ranges(functions->object, die, functions->base, &function->ranges);
    function->calls = heap_grow(function->calls, &function->call_capacity, function->call_count + 1,
                                sizeof(*function->calls));
    function->calls[function->call_count] = (struct inlined_call){
        .scope = {.die_offset = die_offset(functions->object, die),
                  .call_file = die_number(functions->object, die, DW_AT_call_file, 0),
                  .call_line = number32(functions, die, DW_AT_call_line),
                  .call_column = number32(functions, die, DW_AT_call_column)},
        .parent = parent,
        .first_range = first,
        .range_count = function->ranges.count - first,
    };
    return function->call_count++;
}

/* Recursive, but never deeper than WALK_DEPTH_MAX. */
static void walk_body(struct dwarf_functions *functions, struct function *function,
                      Dwarf_Die parent_die, size_t parent, int depth)
{
    Dwarf_Die die = depth < WALK_DEPTH_MAX ? die_child(functions->object, parent_die) : NULL;
    while (die) {
        Dwarf_Half tag = die_tag(functions->object, die);
        if (is_body(tag) && tag != DW_TAG_subprogram) {
            size_t call = parent;
            if (tag == DW_TAG_inlined_subroutine)
                call = add_call(functions, function, die, parent);
            walk_body(functions, function, die, call, depth + 1);
        }
        Dwarf_Die next = die_sibling(functions->object, die);
        die_free(die);
        die = next;
    }
}

static void open_function(struct dwarf_functions *functions, struct function *function)
{
    Dwarf_Die die = die_at(functions->object, function->die_offset);
    function->is_open = true;
    if (die)
        walk_body(functions, function, die, NO_PARENT, 0);
    die_free(die);
}

static bool holds(const struct function *function, const struct inlined_call *call,
                  uint64_t address)
{
    for (size_t i = 0; i < call->range_count; i++) {
        const struct dwarf_range *range = &function->ranges.items[call->first_range + i];
        if (range->low <= address && address < range->limit)
            return true;
    }
    return false;
}

size_t dwarf_functions_find(struct dwarf_functions *functions, uint64_t address,
                            struct dwarf_scope scopes[DWARF_SCOPES_MAX])
{
    size_t item;
    bool found = address_index_find(&functions->index, address, &item);
    if (!found && !functions->has_bodies) {
        read_bodies(functions);
        found = address_index_find(&functions->index, address, &item);
    }
    if (!found)
        return 0;
    struct function *function = &functions->items[item];
    if (!function->is_open)
        open_function(functions, function);
    scopes[0] = (struct dwarf_scope){.die_offset = function->die_offset, .entry = function->entry};
    size_t count = 1, parent = NO_PARENT;
    for (size_t i = 0; i < function->call_count && count < DWARF_SCOPES_MAX; i++) {
        const struct inlined_call *call = &function->calls[i];
        if (call->parent == parent && holds(function, call, address)) {
            scopes[count++] = call->scope;
            parent = i;
        }
    }
    return count;
}
