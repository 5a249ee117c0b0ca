/* hook_cfa_program.c: call frame instructions -> the row that is in force at one pc.
 *
 * Hook-safe: runs in the target's malloc on any thread, also in signal handlers; reads memory only,
 * inside the reader's bounds.
 * A full unwinder keeps a rule for each of 17 registers and an evaluator for expressions. Here a
 * row is 20 bytes: expressions are recognised as they are read (the few that compilers and linkers
 * emit), and anything else makes the place PLACE_OTHER, which ends as FRAME_FALLBACK. Each
 * instruction is one line of a table: its operands and what it does.
 * Source: DWARF 5, 6.4.2 and 7.24; the GNU extensions as in gcc's libgcc/unwind-dw2.c. */
#include "runtime/hook_cfa_program.h"

enum { REGISTER_RBP = 6, REGISTER_RSP = 7, REGISTER_RIP = 16 };
enum { REMEMBERED_MAX = 8 };

enum place_kind {
    PLACE_UNCHANGED, /* still in its register, or never said */
    PLACE_UNDEFINED,
    PLACE_CFA, /* at CFA + offset */
    PLACE_RBP, /* at rbp + offset */
    PLACE_OTHER
};

struct place {
    int32_t offset;
    uint8_t kind; /* enum place_kind */
};

enum cfa_base { CFA_OTHER, CFA_RSP, CFA_RBP, CFA_DEREF_RBP };

struct cfa_row {
    struct place rbp;
    struct place rip;
    int32_t cfa_offset;
    uint8_t cfa_base; /* enum cfa_base */
    bool rsp_is_cfa;  /* the ABI's rule: the caller's rsp is the CFA */
};

struct cfa_machine {
    const struct cfa_cie *cie;
    uintptr_t location; /* the address the current row begins at */
    uintptr_t pc;
    struct cfa_row row;
    struct cfa_row initial; /* what the CIE left: DW_CFA_restore goes back to it */
    unsigned remembered_count;
    struct cfa_row remembered[REMEMBERED_MAX];
};

/* One instruction's operands. */
struct cfa_operands {
    uint64_t reg;
    int64_t number;
    struct eh_reader expression;
};

enum operand_shape {
    SHAPE_NONE,
    SHAPE_REGISTER,
    SHAPE_UNSIGNED,
    SHAPE_REGISTER_UNSIGNED, /* the number is factored by data_align where the action says so */
    SHAPE_REGISTER_SIGNED,
    SHAPE_SIGNED,
    SHAPE_REGISTER_REGISTER,
    SHAPE_EXPRESSION,
    SHAPE_REGISTER_EXPRESSION,
    SHAPE_ADDRESS,
    SHAPE_DELTA1,
    SHAPE_DELTA2,
    SHAPE_DELTA4,
    SHAPE_DELTA8
};

enum cfa_action {
    ACTION_UNKNOWN, /* an opcode nobody has defined: the rest cannot be trusted */
    ACTION_NOTHING,
    ACTION_SET_LOCATION,
    ACTION_ADVANCE,
    ACTION_SAVED_AT,
    ACTION_SAVED_AT_NEGATIVE,
    ACTION_SAVED_BY_EXPRESSION,
    ACTION_SAVED_OTHERWISE,
    ACTION_UNDEFINED,
    ACTION_UNCHANGED,
    ACTION_RESTORE,
    ACTION_REMEMBER_STATE,
    ACTION_RESTORE_STATE,
    ACTION_CFA,
    ACTION_CFA_FACTORED,
    ACTION_CFA_REGISTER,
    ACTION_CFA_OFFSET,
    ACTION_CFA_OFFSET_FACTORED,
    ACTION_CFA_EXPRESSION
};

struct cfa_instruction {
    uint8_t shape;
    uint8_t action;
};

/* Opcodes whose top two bits are 0. */
static const struct cfa_instruction instructions[64] = {
    [0x00] = {SHAPE_NONE, ACTION_NOTHING},
    [0x01] = {SHAPE_ADDRESS, ACTION_SET_LOCATION},
    [0x02] = {SHAPE_DELTA1, ACTION_ADVANCE},
    [0x03] = {SHAPE_DELTA2, ACTION_ADVANCE},
    [0x04] = {SHAPE_DELTA4, ACTION_ADVANCE},
    [0x05] = {SHAPE_REGISTER_UNSIGNED, ACTION_SAVED_AT},              /* offset_extended */
    [0x06] = {SHAPE_REGISTER, ACTION_RESTORE},                        /* restore_extended */
    [0x07] = {SHAPE_REGISTER, ACTION_UNDEFINED},                      /* undefined */
    [0x08] = {SHAPE_REGISTER, ACTION_UNCHANGED},                      /* same_value */
    [0x09] = {SHAPE_REGISTER_REGISTER, ACTION_SAVED_OTHERWISE},       /* register */
    [0x0a] = {SHAPE_NONE, ACTION_REMEMBER_STATE},                     /* remember_state */
    [0x0b] = {SHAPE_NONE, ACTION_RESTORE_STATE},                      /* restore_state */
    [0x0c] = {SHAPE_REGISTER_UNSIGNED, ACTION_CFA},                   /* def_cfa */
    [0x0d] = {SHAPE_REGISTER, ACTION_CFA_REGISTER},                   /* def_cfa_register */
    [0x0e] = {SHAPE_UNSIGNED, ACTION_CFA_OFFSET},                     /* def_cfa_offset */
    [0x0f] = {SHAPE_EXPRESSION, ACTION_CFA_EXPRESSION},               /* def_cfa_expression */
    [0x10] = {SHAPE_REGISTER_EXPRESSION, ACTION_SAVED_BY_EXPRESSION}, /* expression */
    [0x11] = {SHAPE_REGISTER_SIGNED, ACTION_SAVED_AT},                /* offset_extended_sf */
    [0x12] = {SHAPE_REGISTER_SIGNED, ACTION_CFA_FACTORED},            /* def_cfa_sf */
    [0x13] = {SHAPE_SIGNED, ACTION_CFA_OFFSET_FACTORED},              /* def_cfa_offset_sf */
    [0x14] = {SHAPE_REGISTER_UNSIGNED, ACTION_SAVED_OTHERWISE},       /* val_offset */
    [0x15] = {SHAPE_REGISTER_SIGNED, ACTION_SAVED_OTHERWISE},         /* val_offset_sf */
    [0x16] = {SHAPE_REGISTER_EXPRESSION, ACTION_SAVED_OTHERWISE},     /* val_expression */
    [0x1d] = {SHAPE_DELTA8, ACTION_ADVANCE},                          /* MIPS_advance_loc8 */
    [0x2e] = {SHAPE_UNSIGNED, ACTION_NOTHING},                        /* GNU_args_size */
    [0x2f] = {SHAPE_REGISTER_UNSIGNED, ACTION_SAVED_AT_NEGATIVE}, /* GNU_negative_offset_extended */
};

/* Where a register is kept; NULL for those that no rule needs. */
static struct place *place_of(struct cfa_machine *machine, struct cfa_row *row, uint64_t reg)
{
    if (reg == machine->cie->return_register)
        return &row->rip;
    return reg == REGISTER_RBP ? &row->rbp : NULL;
}

static void place_set(struct cfa_machine *machine, uint64_t reg, enum place_kind kind,
                      int64_t offset)
{
    struct place *place = place_of(machine, &machine->row, reg);
    if (reg == REGISTER_RSP)
        machine->row.rsp_is_cfa = kind == PLACE_UNCHANGED;
    if (place == NULL)
        return;
    place->kind = (uint8_t)(offset == (int32_t)offset ? kind : PLACE_OTHER);
    place->offset = (int32_t)offset;
}

static void restore_register(struct cfa_machine *machine, uint64_t reg)
{
    struct place *place = place_of(machine, &machine->row, reg);
    if (reg == REGISTER_RSP)
        machine->row.rsp_is_cfa = machine->initial.rsp_is_cfa;
    if (place != NULL)
        *place = *place_of(machine, &machine->initial, reg);
}

static void cfa_set_offset(struct cfa_machine *machine, int64_t offset)
{
    if (offset != (int32_t)offset)
        machine->row.cfa_base = CFA_OTHER;
    machine->row.cfa_offset = (int32_t)offset;
}

static void cfa_set_register(struct cfa_machine *machine, uint64_t reg)
{
    machine->row.cfa_base = reg == REGISTER_RSP   ? CFA_RSP
                            : reg == REGISTER_RBP ? CFA_RBP
                                                  : CFA_OTHER;
}

/* number * data_align; a product that does not fit gives what no rule can hold. */
static int64_t factored(const struct cfa_machine *machine, int64_t number)
{
    int64_t product;
    return __builtin_mul_overflow(number, machine->cie->data_align, &product) ? INT64_MAX : product;
}

/* "rbp + number", the address that a function with a realigned stack saved rbp at. */
static void saved_by_expression(struct cfa_machine *machine, uint64_t reg, struct eh_reader code)
{
    bool breg6 = eh_unsigned(&code, 1) == 0x70 + REGISTER_RBP;
    int64_t offset = eh_sleb(&code);
    bool known = breg6 && !code.bad && eh_left(&code) == 0;
    place_set(machine, reg, known ? PLACE_RBP : PLACE_OTHER, known ? offset : 0);
}

/* What linkers say for a whole PLT: rsp + 8, and 8 more from byte N of each 16-byte entry on, where
 * the index has been pushed: breg7 8, breg16 0, lit15, and, litN, ge, lit3, shl, plus. The pc is
 * known here, so the rule is made for it alone. */
static bool cfa_of_plt(struct cfa_machine *machine, struct eh_reader code)
{
    static const uint8_t head[6] = {0x77, 8, 0x80, 0, 0x3f, 0x1a};
    static const uint8_t tail[4] = {0x2a, 0x33, 0x24, 0x22};
    uint8_t literal;
    if (code.bad || eh_left(&code) != sizeof(head) + 1 + sizeof(tail))
        return false;
    literal = code.at[sizeof(head)];
    if (memcmp(code.at, head, sizeof(head)) != 0 || literal < 0x30 || literal > 0x4f ||
        memcmp(code.at + sizeof(head) + 1, tail, sizeof(tail)) != 0)
        return false;
    machine->row.cfa_base = CFA_RSP;
    machine->row.cfa_offset = (machine->pc & 15) >= literal - 0x30u ? 16 : 8;
    return true;
}

/* "the word at rbp + number", the frame of a function that has realigned its stack. */
static void cfa_by_expression(struct cfa_machine *machine, struct eh_reader code)
{
    struct eh_reader deref = code;
    bool breg6 = eh_unsigned(&deref, 1) == 0x70 + REGISTER_RBP;
    int64_t offset = eh_sleb(&deref);
    if (breg6 && eh_unsigned(&deref, 1) == 0x06 && !deref.bad && eh_left(&deref) == 0) {
        machine->row.cfa_base = CFA_DEREF_RBP;
        cfa_set_offset(machine, offset);
    } else if (!cfa_of_plt(machine, code)) {
        machine->row.cfa_base = CFA_OTHER;
    }
}

static struct eh_reader expression(struct eh_reader *in)
{
    uint64_t length = eh_uleb(in);
    struct eh_reader code = *in;
    eh_skip(in, length);
    code.bad = in->bad;
    code.end = in->at;
    return code;
}

static struct cfa_operands operands(const struct cfa_machine *machine, struct eh_reader *in,
                                    enum operand_shape shape)
{
    struct cfa_operands got = {0};
    if (shape == SHAPE_REGISTER || shape == SHAPE_REGISTER_UNSIGNED ||
        shape == SHAPE_REGISTER_SIGNED || shape == SHAPE_REGISTER_REGISTER ||
        shape == SHAPE_REGISTER_EXPRESSION)
        got.reg = eh_uleb(in);
    if (shape == SHAPE_UNSIGNED || shape == SHAPE_REGISTER_UNSIGNED ||
        shape == SHAPE_REGISTER_REGISTER)
        got.number = (int64_t)eh_uleb(in);
    else if (shape == SHAPE_SIGNED || shape == SHAPE_REGISTER_SIGNED)
        got.number = eh_sleb(in);
    else if (shape == SHAPE_EXPRESSION || shape == SHAPE_REGISTER_EXPRESSION)
        got.expression = expression(in);
    else if (shape == SHAPE_ADDRESS)
        got.number = (int64_t)eh_pointer(in, machine->cie->fde_encoding, 0);
    else if (shape >= SHAPE_DELTA1)
        got.number = (int64_t)eh_unsigned(in, (size_t)1 << (shape - SHAPE_DELTA1));
    return got;
}

static bool remember_state(struct cfa_machine *machine)
{
    if (machine->remembered_count == REMEMBERED_MAX)
        return false;
    machine->remembered[machine->remembered_count++] = machine->row;
    return true;
}

static bool restore_state(struct cfa_machine *machine)
{
    if (machine->remembered_count == 0)
        return false;
    machine->row = machine->remembered[--machine->remembered_count];
    return true;
}

static void act_on_cfa(struct cfa_machine *machine, enum cfa_action action,
                       const struct cfa_operands *with)
{
    if (action == ACTION_CFA || action == ACTION_CFA_FACTORED || action == ACTION_CFA_REGISTER)
        cfa_set_register(machine, with->reg);
    if (action == ACTION_CFA || action == ACTION_CFA_OFFSET)
        cfa_set_offset(machine, with->number);
    else if (action == ACTION_CFA_FACTORED || action == ACTION_CFA_OFFSET_FACTORED)
        cfa_set_offset(machine, factored(machine, with->number));
    else if (action == ACTION_CFA_EXPRESSION)
        cfa_by_expression(machine, with->expression);
}

/* False when the program makes no sense. */
static bool act(struct cfa_machine *machine, enum cfa_action action,
                const struct cfa_operands *with)
{
    switch (action) {
    case ACTION_UNKNOWN:
        return false;
    case ACTION_NOTHING:
        return true;
    case ACTION_SET_LOCATION:
        machine->location = (uintptr_t)with->number;
        return true;
    case ACTION_ADVANCE:
        machine->location += (uint64_t)with->number * machine->cie->code_align;
        return true;
    case ACTION_SAVED_AT:
        place_set(machine, with->reg, PLACE_CFA, factored(machine, with->number));
        return true;
    case ACTION_SAVED_AT_NEGATIVE:
        place_set(machine, with->reg, PLACE_CFA,
                  factored(machine, (int64_t) - (uint64_t)with->number));
        return true;
    case ACTION_SAVED_BY_EXPRESSION:
        saved_by_expression(machine, with->reg, with->expression);
        return true;
    case ACTION_SAVED_OTHERWISE:
        place_set(machine, with->reg, PLACE_OTHER, 0);
        return true;
    case ACTION_UNDEFINED:
        place_set(machine, with->reg, PLACE_UNDEFINED, 0);
        return true;
    case ACTION_UNCHANGED:
        place_set(machine, with->reg, PLACE_UNCHANGED, 0);
        return true;
    case ACTION_RESTORE:
        restore_register(machine, with->reg);
        return true;
    case ACTION_REMEMBER_STATE:
        return remember_state(machine);
    case ACTION_RESTORE_STATE:
        return restore_state(machine);
    default:
        act_on_cfa(machine, action, with);
        return true;
    }
}

/* Runs until the end, or until the location has passed pc. False when malformed. */
static bool run(struct cfa_machine *machine, struct eh_reader in)
{
    while (!in.bad && eh_left(&in) != 0) {
        uint8_t opcode = (uint8_t)eh_unsigned(&in, 1);
        struct cfa_operands with = {.reg = opcode & 0x3fu, .number = opcode & 0x3f};
        enum cfa_action action;
        if (opcode >> 6 == 0) {
            with = operands(machine, &in, (enum operand_shape)instructions[opcode].shape);
            action = (enum cfa_action)instructions[opcode].action;
        } else if (opcode >> 6 == 1) {
            action = ACTION_ADVANCE;
        } else if (opcode >> 6 == 2) {
            with.number = (int64_t)eh_uleb(&in);
            action = ACTION_SAVED_AT;
        } else {
            action = ACTION_RESTORE;
        }
        if (in.bad || !act(machine, action, &with))
            return false;
        if (machine->location > machine->pc)
            return true;
    }
    return !in.bad;
}

static bool row_fits(const struct cfa_row *row)
{
    return row->cfa_base != CFA_OTHER && row->rsp_is_cfa && row->rip.kind == PLACE_CFA &&
           row->rip.offset == -8 && row->rbp.kind != PLACE_OTHER;
}

static struct frame_rule rule_of(const struct cfa_row *row)
{
    static const enum frame_kind kinds[] = {
        [CFA_OTHER] = FRAME_FALLBACK,
        [CFA_RSP] = FRAME_RSP,
        [CFA_RBP] = FRAME_RBP,
        [CFA_DEREF_RBP] = FRAME_DEREF_RBP,
    };
    struct frame_rule rule = {.kind = kinds[row->cfa_base], .cfa_offset = row->cfa_offset};
    if (row->rip.kind == PLACE_UNDEFINED)
        return (struct frame_rule){.kind = FRAME_ROOT};
    if (!row_fits(row))
        return (struct frame_rule){.kind = FRAME_FALLBACK};
    if (row->rbp.kind == PLACE_CFA || row->rbp.kind == PLACE_RBP) {
        rule.rbp = row->rbp.kind == PLACE_CFA ? SAVED_AT_CFA : SAVED_AT_RBP;
        rule.rbp_offset = row->rbp.offset;
    }
    return rule;
}

struct frame_rule cfa_program_rule(const struct cfa_cie *cie, struct eh_reader program,
                                   uintptr_t start, uintptr_t pc)
{
    struct cfa_machine machine;
    machine.cie = cie;
    machine.location = start;
    machine.pc = pc;
    machine.row = (struct cfa_row){.rsp_is_cfa = true};
    machine.initial = machine.row;
    machine.remembered_count = 0;
    if (cie->return_register != REGISTER_RIP || !run(&machine, cie->instructions))
        return (struct frame_rule){.kind = FRAME_NONE};
    machine.initial = machine.row;
    if (!run(&machine, program))
        return (struct frame_rule){.kind = FRAME_NONE};
    return rule_of(&machine.row);
}
