/* dwarf_die.c: one libdwarf call after another, each with its error given back.
 *
 * An Error pointer is always passed: without one libdwarf aborts. Source: DWARF 5, section 7.5. */
#include "symbolize/dwarf_die.h"

#include <libdwarf/dwarf.h>

#include "proto/arena.h"
#include "symbolize/dwarf_object.h"

/* True for DW_DLV_OK; gives the error back. */
static bool succeeded(struct dwarf_object *object, int result, Dwarf_Error error)
{
    if (result == DW_DLV_ERROR)
        dwarf_dealloc_error(object->debug, error);
    return result == DW_DLV_OK;
}

void die_free(Dwarf_Die die)
{
    if (die)
        dwarf_dealloc_die(die);
}

Dwarf_Die die_at(struct dwarf_object *object, uint64_t offset)
{
    Dwarf_Die die = NULL;
    Dwarf_Error error = NULL;
    return succeeded(object, dwarf_offdie_b(object->debug, offset, true, &die, &error), error)
               ? die
               : NULL;
}

Dwarf_Die die_of_current_unit(struct dwarf_object *object)
{
    Dwarf_Die die = NULL;
    Dwarf_Error error = NULL;
    return succeeded(object, dwarf_siblingof_b(object->debug, NULL, true, &die, &error), error)
               ? die
               : NULL;
}

Dwarf_Half die_tag(struct dwarf_object *object, Dwarf_Die die)
{
    Dwarf_Half tag = 0;
    Dwarf_Error error = NULL;
    return succeeded(object, dwarf_tag(die, &tag, &error), error) ? tag : 0;
}

uint64_t die_offset(struct dwarf_object *object, Dwarf_Die die)
{
    Dwarf_Off offset = 0;
    Dwarf_Error error = NULL;
    return succeeded(object, dwarf_dieoffset(die, &offset, &error), error) ? offset : 0;
}

Dwarf_Die die_child(struct dwarf_object *object, Dwarf_Die die)
{
    Dwarf_Die child = NULL;
    Dwarf_Error error = NULL;
    return succeeded(object, dwarf_child(die, &child, &error), error) ? child : NULL;
}

Dwarf_Die die_sibling(struct dwarf_object *object, Dwarf_Die die)
{
    Dwarf_Die next = NULL;
    Dwarf_Error error = NULL;
    if (!succeeded(object, dwarf_siblingof_b(object->debug, die, true, &next, &error), error))
        return NULL;
    if (die_offset(object, next) > die_offset(object, die))
        return next;
    die_free(next);
    return NULL;
}

/* --- attributes --------------------------------------------------------------------------- */

static Dwarf_Attribute find_attribute(struct dwarf_object *object, Dwarf_Die die, Dwarf_Half number)
{
    Dwarf_Attribute attribute = NULL;
    Dwarf_Error error = NULL;
    return succeeded(object, dwarf_attr(die, number, &attribute, &error), error) ? attribute : NULL;
}

static Dwarf_Half attribute_form(struct dwarf_object *object, Dwarf_Attribute attribute)
{
    Dwarf_Half form = 0;
    Dwarf_Error error = NULL;
    return succeeded(object, dwarf_whatform(attribute, &form, &error), error) ? form : 0;
}

/* dwarf_formudata refuses signed forms, and each refusal costs memory: libdwarf 20210528 does not
 * give errors back when deallocation lists are off. */
static uint64_t signed_value(struct dwarf_object *object, Dwarf_Attribute attribute,
                             uint64_t fallback)
{
    Dwarf_Signed value = 0;
    Dwarf_Error error = NULL;
    bool ok = succeeded(object, dwarf_formsdata(attribute, &value, &error), error);
    return ok && value >= 0 ? (uint64_t)value : fallback;
}

uint64_t die_number(struct dwarf_object *object, Dwarf_Die die, Dwarf_Half attribute_number,
                    uint64_t fallback)
{
    Dwarf_Attribute attribute = find_attribute(object, die, attribute_number);
    if (!attribute)
        return fallback;
    Dwarf_Half form = attribute_form(object, attribute);
    Dwarf_Unsigned value = 0;
    Dwarf_Error error = NULL;
    uint64_t result = fallback;
    if (form == DW_FORM_sdata || form == DW_FORM_implicit_const)
        result = signed_value(object, attribute, fallback);
    else if (succeeded(object, dwarf_formudata(attribute, &value, &error), error))
        result = value;
    dwarf_dealloc_attribute(attribute);
    return result;
}

const char *die_text(struct dwarf_object *object, Dwarf_Die die, Dwarf_Half attribute)
{
    char *text = NULL;
    Dwarf_Error error = NULL;
    return succeeded(object, dwarf_die_text(die, attribute, &text, &error), error) ? text : NULL;
}

/* Offsets are of form sec_offset since DWARF 4 and plain numbers before; an index into a list of
 * range lists (rnglistx) is a number too. UINT64_MAX for neither. */
static uint64_t offset_value(struct dwarf_object *object, Dwarf_Attribute attribute,
                             Dwarf_Half form)
{
    Dwarf_Off offset = 0;
    Dwarf_Unsigned number = 0;
    Dwarf_Error error = NULL;
    if (form == DW_FORM_sec_offset)
        return succeeded(object, dwarf_global_formref(attribute, &offset, &error), error)
                   ? offset
                   : UINT64_MAX;
    return succeeded(object, dwarf_formudata(attribute, &number, &error), error) ? number
                                                                                 : UINT64_MAX;
}

uint64_t die_section_offset(struct dwarf_object *object, Dwarf_Die die, Dwarf_Half attribute_number)
{
    Dwarf_Attribute attribute = find_attribute(object, die, attribute_number);
    if (!attribute)
        return UINT64_MAX;
    uint64_t value = offset_value(object, attribute, attribute_form(object, attribute));
    dwarf_dealloc_attribute(attribute);
    return value;
}

bool die_low_address(struct dwarf_object *object, Dwarf_Die die, uint64_t *address)
{
    Dwarf_Addr low = 0;
    Dwarf_Error error = NULL;
    if (!succeeded(object, dwarf_lowpc(die, &low, &error), error))
        return false;
    *address = low;
    return true;
}

static bool is_alternate_form(Dwarf_Half form)
{
    return form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8;
}

bool die_reference(struct dwarf_object *object, Dwarf_Die die, Dwarf_Half attribute_number,
                   struct dwarf_object **target, uint64_t *offset)
{
    Dwarf_Attribute attribute = find_attribute(object, die, attribute_number);
    if (!attribute)
        return false;
    Dwarf_Off global = 0;
    Dwarf_Error error = NULL;
    Dwarf_Half form = attribute_form(object, attribute);
    *target = is_alternate_form(form) ? object->alternate : object;
    bool ok = form != DW_FORM_ref_sig8 &&
              succeeded(object, dwarf_global_formref(attribute, &global, &error), error);
    dwarf_dealloc_attribute(attribute);
    *offset = global;
    return ok && *target;
}

/* --- ranges ------------------------------------------------------------------------------- */

static void add_range(struct dwarf_ranges *ranges, uint64_t low, uint64_t limit)
{
    if (low == 0 || low >= limit)
        return;
    ranges->items =
        heap_grow(ranges->items, &ranges->capacity, ranges->count + 1, sizeof(*ranges->items));
    ranges->items[ranges->count++] = (struct dwarf_range){low, limit};
}

/* high_pc is an address in DWARF 2 and 3, and since DWARF 4 mostly a length. */
static bool add_low_high(struct dwarf_object *object, Dwarf_Die die, struct dwarf_ranges *ranges)
{
    uint64_t low, limit;
    Dwarf_Addr high = 0;
    Dwarf_Half form = 0;
    enum Dwarf_Form_Class class = DW_FORM_CLASS_UNKNOWN;
    Dwarf_Error error = NULL;
    if (!die_low_address(object, die, &low) ||
        !succeeded(object, dwarf_highpc_b(die, &high, &form, &class, &error), error))
        return false;
    limit = high;
    if (class == DW_FORM_CLASS_CONSTANT && __builtin_add_overflow(low, high, &limit))
        return false;
    add_range(ranges, low, limit);
    return true;
}

/* DWARF 5: .debug_rnglists. libdwarf has already added the bases to the cooked values. */
static void add_range_list(struct dwarf_object *object, Dwarf_Attribute attribute, Dwarf_Half form,
                           uint64_t value, struct dwarf_ranges *ranges)
{
    Dwarf_Rnglists_Head head = NULL;
    Dwarf_Unsigned count = 0, offset = 0;
    Dwarf_Error error = NULL;
    if (!succeeded(
            object,
            dwarf_rnglists_get_rle_head(attribute, form, value, &head, &count, &offset, &error),
            error))
        return;
    for (Dwarf_Unsigned i = 0; i < count; i++) {
        unsigned length = 0, code = 0;
        Dwarf_Unsigned raw1 = 0, raw2 = 0, low = 0, limit = 0;
        Dwarf_Bool unavailable = false;
        error = NULL;
        if (!succeeded(object,
                       dwarf_get_rnglists_entry_fields_a(head, i, &length, &code, &raw1, &raw2,
                                                         &unavailable, &low, &limit, &error),
                       error))
            break;
        if (!unavailable && code != DW_RLE_end_of_list && code != DW_RLE_base_address &&
            code != DW_RLE_base_addressx)
            add_range(ranges, low, limit);
    }
    dwarf_dealloc_rnglists_head(head);
}

/* DWARF 3 and 4: .debug_ranges. */
static void add_old_ranges(struct dwarf_object *object, Dwarf_Die die, uint64_t offset,
                           uint64_t base, struct dwarf_ranges *ranges)
{
    Dwarf_Ranges *rows = NULL;
    Dwarf_Signed count = 0;
    Dwarf_Unsigned bytes = 0;
    Dwarf_Off real_offset = 0;
    Dwarf_Error error = NULL;
    if (!succeeded(object,
                   dwarf_get_ranges_b(object->debug, offset, die, &real_offset, &rows, &count,
                                      &bytes, &error),
                   error))
        return;
    for (Dwarf_Signed i = 0; i < count && rows[i].dwr_type != DW_RANGES_END; i++) {
        uint64_t low, limit;
        if (rows[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
            base = rows[i].dwr_addr2;
        else if (!__builtin_add_overflow(base, rows[i].dwr_addr1, &low) &&
                 !__builtin_add_overflow(base, rows[i].dwr_addr2, &limit))
            add_range(ranges, low, limit);
    }
    dwarf_ranges_dealloc(object->debug, rows, count);
}

void die_ranges(struct dwarf_object *object, Dwarf_Die die, uint64_t base,
                struct dwarf_ranges *ranges)
{
    if (add_low_high(object, die, ranges))
        return;
    Dwarf_Attribute attribute = find_attribute(object, die, DW_AT_ranges);
    if (!attribute)
        return;
    Dwarf_Half version = 0, offset_size = 0;
    Dwarf_Half form = attribute_form(object, attribute);
    uint64_t value = offset_value(object, attribute, form);
    dwarf_get_version_of_die(die, &version, &offset_size);
    if (value != UINT64_MAX && version >= 5)
        add_range_list(object, attribute, form, value, ranges);
    else if (value != UINT64_MAX)
        add_old_ranges(object, die, value, base, ranges);
    dwarf_dealloc_attribute(attribute);
}
