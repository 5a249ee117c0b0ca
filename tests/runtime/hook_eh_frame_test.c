/* hook_eh_frame_test.c: unwind rules read from .eh_frame, true ones, made ones and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/hook_eh_frame.h"

enum { PAGE = 4096 };

/* Functions with call frame information of every kind; only looked at, never called. */
extern const char f_plain[], f_plain_pushed[], f_plain_end[], f_frame_pointer[], f_realigned[];
extern const char f_root[], f_other_base[], f_remembered[], f_restored[], f_not_a_trampoline[];
extern const char f_before_signal[], f_signal[], f_huge_save[], f_plt[], f_ra_register[],
    f_rbp_expression[];
extern const char f_rsp_rule[], f_big_offset[], f_sf[];
__asm__(".pushsection .text\n"
        "f_plain: .cfi_startproc\n nop\n .cfi_def_cfa_offset 16\n .cfi_offset %rbp, -16\n"
        "f_plain_pushed: nop\n .cfi_def_cfa_offset 8\n .cfi_restore %rbp\n"
        "f_plain_end: nop\n .cfi_endproc\n"
        "f_frame_pointer: .cfi_startproc\n .cfi_def_cfa %rbp, 16\n .cfi_offset %rbp, -16\n"
        " .cfi_offset %rbx, -24\n .cfi_escape 0x2e, 0x10\n nop\n .cfi_endproc\n"
        "f_realigned: .cfi_startproc\n .cfi_escape 0x0f, 3, 0x76, 0x78, 6\n"
        " .cfi_escape 0x10, 6, 2, 0x76, 0\n nop\n .cfi_endproc\n"
        "f_root: .cfi_startproc\n .cfi_undefined %rip\n nop\n .cfi_endproc\n"
        "f_other_base: .cfi_startproc\n .cfi_def_cfa %r10, 0\n nop\n .cfi_endproc\n"
        "f_remembered: .cfi_startproc\n .cfi_def_cfa_offset 64\n .cfi_remember_state\n"
        " nop\n .cfi_def_cfa_offset 8\n nop\n .cfi_restore_state\n"
        "f_restored: nop\n .cfi_endproc\n"
        "f_not_a_trampoline: .cfi_startproc\n .cfi_signal_frame\n .cfi_def_cfa_offset 24\n"
        " nop\n .cfi_endproc\n"
        "f_before_signal: .cfi_startproc\n .cfi_signal_frame\n nop\n"
        "f_signal: .byte 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 5\n .cfi_endproc\n"
        "f_huge_save: .cfi_startproc\n .cfi_offset %rbp, -134217728\n nop\n .cfi_endproc\n"
        " .p2align 4\n"
        "f_plt: .cfi_startproc\n"
        " .cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22\n"
        " .fill 16, 1, 0x90\n .cfi_endproc\n"
        "f_ra_register: .cfi_startproc\n .cfi_register %rip, %rdi\n nop\n .cfi_endproc\n"
        "f_rbp_expression: .cfi_startproc\n .cfi_escape 0x10, 6, 2, 0x77, 8\n nop\n .cfi_endproc\n"
        "f_rsp_rule: .cfi_startproc\n .cfi_offset %rsp, -24\n nop\n .cfi_endproc\n"
        "f_big_offset: .cfi_startproc\n .cfi_def_cfa_offset 0x12345678\n nop\n .cfi_endproc\n"
        "f_sf: .cfi_startproc\n .cfi_escape 0x12, 7, 0x7d\n .cfi_escape 0x11, 6, 3\n nop\n"
        " .cfi_endproc\n"
        ".popsection\n");

static struct frame_rule rule_at(const char *pc)
{
    struct dl_find_object found;
    struct eh_frame_object object;
    assert_int_equal(_dl_find_object((void *)(uintptr_t)pc, &found), 0);
    assert_true(eh_frame_object_init(&object, &found, (uintptr_t)pc));
    return eh_frame_rule(&object, (uintptr_t)pc);
}

static void assert_rule(const char *pc, enum frame_kind kind, int cfa_offset, enum frame_saved rbp,
                        int rbp_offset)
{
    struct frame_rule rule = rule_at(pc);
    assert_int_equal(rule.kind, kind);
    assert_int_equal(rule.cfa_offset, cfa_offset);
    assert_int_equal(rule.rbp, rbp);
    assert_int_equal(rule.rbp_offset, rbp_offset);
}

static void test_each_instruction_has_its_own_rule(void **state)
{
    (void)state;
    assert_rule(f_plain, FRAME_RSP, 8, SAVED_NOT, 0);
    assert_rule(f_plain_pushed, FRAME_RSP, 16, SAVED_AT_CFA, -16);
    assert_rule(f_plain_end, FRAME_RSP, 8, SAVED_NOT, 0);
    assert_rule(f_frame_pointer, FRAME_RBP, 16, SAVED_AT_CFA, -16);
    assert_rule(f_big_offset, FRAME_RSP, 0x12345678, SAVED_NOT, 0);
    assert_rule(f_sf, FRAME_RSP, 24, SAVED_AT_CFA, -24);
}

static void test_a_realigned_stack_is_found_through_rbp(void **state)
{
    (void)state;
    assert_rule(f_realigned, FRAME_DEREF_RBP, -8, SAVED_AT_RBP, 0);
}

static void test_a_remembered_state_comes_back(void **state)
{
    (void)state;
    assert_rule(f_remembered, FRAME_RSP, 64, SAVED_NOT, 0);
    assert_rule(f_remembered + 1, FRAME_RSP, 8, SAVED_NOT, 0);
    assert_rule(f_restored, FRAME_RSP, 64, SAVED_NOT, 0);
}

static void test_a_plt_entry_has_pushed_its_index_from_byte_11_on(void **state)
{
    (void)state;
    for (int i = 0; i < 16; i++)
        assert_rule(f_plt + i, FRAME_RSP, i >= 11 ? 16 : 8, SAVED_NOT, 0);
}

static void test_an_undefined_return_address_is_the_root(void **state)
{
    (void)state;
    assert_int_equal(rule_at(f_root).kind, FRAME_ROOT);
}

static void test_what_a_rule_cannot_say_is_left_to_the_fallback(void **state)
{
    const char *const pcs[] = {f_other_base, f_ra_register, f_rbp_expression, f_rsp_rule};
    struct frame_rule huge = rule_at(f_huge_save);
    (void)state;
    for (size_t i = 0; i < sizeof(pcs) / sizeof(pcs[0]); i++)
        assert_int_equal(rule_at(pcs[i]).kind, FRAME_FALLBACK);
    assert_int_equal(huge.kind, FRAME_RSP);
    assert_int_equal(frame_word_kind(frame_rule_pack(huge)), FRAME_FALLBACK);
}

static void test_only_code_that_calls_sigreturn_is_a_signal_trampoline(void **state)
{
    (void)state;
    assert_int_equal(rule_at(f_before_signal).kind, FRAME_SIGNAL);
    assert_int_equal(rule_at(f_signal).kind, FRAME_SIGNAL);
    assert_true(rule_at(f_signal).interrupts);
    assert_rule(f_not_a_trampoline, FRAME_RSP, 24, SAVED_NOT, 0);
    assert_true(rule_at(f_not_a_trampoline).interrupts);
}

static void test_a_packed_rule_keeps_all_it_says(void **state)
{
    static const struct frame_rule rules[] = {
        {FRAME_RSP, SAVED_AT_CFA, false, 8, -16},
        {FRAME_RBP, SAVED_NOT, false, INT32_MAX, 0},
        {FRAME_DEREF_RBP, SAVED_AT_RBP, true, INT32_MIN, (1 << 23) - 1},
        {FRAME_RSP, SAVED_AT_CFA, true, -8, -(1 << 23)},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        frame_word word = frame_rule_pack(rules[i]);
        assert_int_equal(frame_word_kind(word), rules[i].kind);
        assert_int_equal(frame_word_rbp(word), rules[i].rbp);
        assert_int_equal((word & FRAME_WORD_INTERRUPTS) != 0, rules[i].interrupts);
        assert_int_equal(frame_word_cfa_offset(word), rules[i].cfa_offset);
        assert_int_equal(frame_word_rbp_offset(word), rules[i].rbp_offset);
        assert_int_equal((word & FRAME_WORD_PLAIN) != 0, i < 2);
        assert_int_equal(frame_word_own(word) & ~FRAME_WORD_OWN, word);
    }
}

/* An object made by hand: one CIE, two FDEs for [1000, 1100) and [1200, 1210), a header. */
struct image {
    uint8_t bytes[512];
    size_t size;
    struct eh_frame_object object;
};

static void put(struct image *image, uint64_t value, size_t size)
{
    assert_true(image->size + size <= sizeof(image->bytes));
    memcpy(image->bytes + image->size, &value, size);
    image->size += size;
}

static void put_bytes(struct image *image, const void *bytes, size_t size)
{
    assert_true(image->size + size <= sizeof(image->bytes));
    memcpy(image->bytes + image->size, bytes, size);
    image->size += size;
}

static size_t put_cie(struct image *image, uint8_t version, const char *augmentation,
                      const char *augmentation_data)
{
    size_t start = image->size;
    uint32_t length;
    put(image, 0, 4);
    put(image, 0, 4);
    put(image, version, 1);
    put_bytes(image, augmentation, strlen(augmentation) + 1);
    if (version == 4)
        put(image, 8, 2);
    put(image, 1, 1);    /* code alignment */
    put(image, 0x78, 1); /* data alignment -8 */
    put(image, 16, 1);   /* return address */
    if (augmentation[0] == 'z') {
        put(image, strlen(augmentation_data), 1);
        put_bytes(image, augmentation_data, strlen(augmentation_data));
    }
    put_bytes(image, "\x0c\x07\x08\x90\x01", 5); /* def_cfa rsp, 8; offset rip, 1 */
    length = (uint32_t)(image->size - start - 4);
    memcpy(image->bytes + start, &length, 4);
    return start;
}

static size_t put_fde(struct image *image, size_t cie, uint64_t start_pc, uint64_t size,
                      bool lengths, uint8_t cfa_offset)
{
    size_t start = image->size;
    uint32_t length;
    put(image, 0, 4);
    put(image, image->size - cie, 4);
    put(image, start_pc, 8);
    put(image, size, 8);
    if (lengths)
        put(image, 0, 1);
    put(image, 0x0e, 1);
    put(image, cfa_offset, 1);
    length = (uint32_t)(image->size - start - 4);
    memcpy(image->bytes + start, &length, 4);
    return start;
}

/* The header, with addresses of width bytes counted from the header itself; width 0: no table. */
static void finish(struct image *image, size_t first, size_t second, size_t width)
{
    size_t frames = 0;
    size_t header;
    put(image, 0, 4); /* end of .eh_frame */
    header = image->size;
    image->object = (struct eh_frame_object){
        .header = (uintptr_t)image->bytes + header,
        .tables = (uintptr_t)image->bytes,
    };
    put(image, 1, 1);
    put(image, 0x3b, 1);
    put(image, width == 0 ? 0xff : 0x03, 1);
    put(image, width == 0 ? 0xff : width == 8 ? 0x3c : 0x3b, 1);
    put(image, frames - header, 4);
    if (width != 0) {
        put(image, 2, 4);
        put(image, 1000 - image->object.header, width);
        put(image, first - header, width);
        put(image, 1200 - image->object.header, width);
        put(image, second - header, width);
    }
    image->object.tables_limit = (uintptr_t)image->bytes + image->size;
}

static void make(struct image *image, uint8_t version, const char *augmentation,
                 const char *augmentation_data, size_t width)
{
    bool lengths = augmentation[0] == 'z';
    size_t cie, first, second;
    image->size = 0;
    cie = put_cie(image, version, augmentation, augmentation_data);
    first = put_fde(image, cie, 1000, 100, lengths, 32);
    second = put_fde(image, cie, 1200, 10, lengths, 48);
    finish(image, first, second, width);
}

static void assert_two_functions(const struct image *image)
{
    assert_int_equal(eh_frame_rule(&image->object, 998).kind, FRAME_NONE);
    assert_int_equal(eh_frame_rule(&image->object, 999).kind, FRAME_ROOT); /* returned to by hand */
    assert_int_equal(eh_frame_rule(&image->object, 1000).cfa_offset, 32);
    assert_int_equal(eh_frame_rule(&image->object, 1099).cfa_offset, 32);
    assert_int_equal(eh_frame_rule(&image->object, 1100).kind, FRAME_NONE);
    assert_int_equal(eh_frame_rule(&image->object, 1209).cfa_offset, 48);
    assert_int_equal(eh_frame_rule(&image->object, 1210).kind, FRAME_NONE);
    assert_int_equal(eh_frame_rule(&image->object, 1000).kind, FRAME_RSP);
}

static void test_versions_and_augmentations_that_exist_are_read(void **state)
{
    static struct image image;
    static const uint8_t versions[] = {1, 3, 4};
    (void)state;
    for (size_t i = 0; i < sizeof(versions); i++) {
        make(&image, versions[i], "", "", 8);
        assert_two_functions(&image);
        make(&image, versions[i], "zR", "\4", 8);
        assert_two_functions(&image);
        make(&image, versions[i], "zPLRSB",
             "\x1b"
             "abcd\x1b\4",
             8);
        assert_two_functions(&image);
    }
    make(&image, 2, "", "", 8);
    assert_int_equal(eh_frame_rule(&image.object, 1000).kind, FRAME_NONE);
    make(&image, 1, "eh", "", 8);
    assert_int_equal(eh_frame_rule(&image.object, 1000).kind, FRAME_NONE);
}

static void test_without_a_search_table_the_frames_are_searched(void **state)
{
    static struct image image;
    (void)state;
    make(&image, 1, "zR", "\4", 0);
    assert_two_functions(&image);
}

static void test_a_cut_object_is_never_read_past_its_end(void **state)
{
    static struct image image;
    size_t header;
    (void)state;
    make(&image, 1, "zPLR",
         "\x1b"
         "abcd\x1b\4",
         8);
    header = image.object.header - image.object.tables;
    for (size_t size = 0; size < image.size; size++) {
        size_t room = 2 * PAGE;
        uint8_t *pages =
            mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        struct eh_frame_object object = image.object;
        uint8_t *copy = pages + PAGE - size;
        struct frame_rule rule;
        assert_ptr_not_equal(pages, MAP_FAILED);
        memcpy(copy, image.bytes, size);
        assert_int_equal(mprotect(pages + PAGE, PAGE, PROT_NONE), 0);
        object.tables = (uintptr_t)copy;
        object.tables_limit = (uintptr_t)copy + size;
        object.header = (uintptr_t)copy + (image.object.header - image.object.tables);
        rule = eh_frame_rule(&object, 1000);
        /* With only the search table cut, the frames themselves still hold it. */
        assert_true(rule.kind == FRAME_NONE || (rule.cfa_offset == 32 && size >= header + 8));
        munmap(pages, room);
    }
}

/* libc's tables, copied with their distance to each other between unreadable pages. */
struct copy {
    uint8_t *bytes;
    const uint8_t *original;
    size_t size;
    uintptr_t code; /* where libc's code would be */
    size_t code_size;
    struct eh_frame_object object;
};

static void copy_libc(struct copy *copy)
{
    struct dl_find_object found;
    struct eh_frame_object object;
    size_t room;
    uint8_t *pages;
    assert_int_equal(_dl_find_object((void *)(uintptr_t)qsort, &found), 0);
    assert_true(eh_frame_object_init(&object, &found, (uintptr_t)qsort));
    copy->original = (const uint8_t *)object.tables;
    copy->size = object.tables_limit - object.tables;
    room = (copy->size + PAGE - 1) / PAGE * PAGE;
    pages = mmap(NULL, room + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + PAGE, room, PROT_READ | PROT_WRITE), 0);
    copy->bytes = pages + PAGE + room - copy->size;
    memcpy(copy->bytes, copy->original, copy->size);
    copy->object.tables = (uintptr_t)copy->bytes;
    copy->object.tables_limit = copy->object.tables + copy->size;
    copy->object.header = object.header - object.tables + copy->object.tables;
    copy->code = object.code - object.tables + copy->object.tables;
    copy->code_size = object.code_limit - object.code;
}

static void test_linear_search_finds_what_the_table_finds(void **state)
{
    static struct copy with, without;
    size_t described = 0;
    (void)state;
    copy_libc(&with);
    copy_libc(&without);
    ((uint8_t *)without.object.header)[2] = 0xff;
    for (size_t offset = 0; offset < with.code_size; offset += 4099) {
        struct frame_rule a = eh_frame_rule(&with.object, with.code + offset);
        struct frame_rule b = eh_frame_rule(&without.object, without.code + offset);
        assert_int_equal(frame_rule_pack(a), frame_rule_pack(b));
        described += a.kind == FRAME_RSP;
    }
    assert_true(described > 100);
}

static void damage(struct copy *copy, size_t place, unsigned short seed[3])
{
    for (size_t i = place; i < place + 4 && i < copy->size; i++)
        copy->bytes[i] = (uint8_t)nrand48(seed);
}

static void test_damaged_tables_are_survived(void **state)
{
    static struct copy copy;
    unsigned short seed[3] = {1, 2, 3};
    size_t changed = 0;
    size_t header;
    (void)state;
    copy_libc(&copy);
    header = copy.object.header - copy.object.tables;
    for (int round = 0; round < 100000; round++) {
        bool in_header = round % 8 == 0;
        size_t range = in_header ? 12 : copy.size - header;
        uintptr_t pc = copy.code + (size_t)nrand48(seed) % copy.code_size;
        frame_word before = frame_rule_pack(eh_frame_rule(&copy.object, pc));
        damage(&copy, header + (size_t)nrand48(seed) % range, seed);
        changed += frame_rule_pack(eh_frame_rule(&copy.object, pc)) != before;
        if (in_header) /* else no later round would get further */
            memcpy(copy.bytes + header, copy.original + header, 16);
        if (round % 20000 == 0)
            memcpy(copy.bytes, copy.original, copy.size);
    }
    assert_true(changed > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_instruction_has_its_own_rule),
        cmocka_unit_test(test_a_realigned_stack_is_found_through_rbp),
        cmocka_unit_test(test_a_remembered_state_comes_back),
        cmocka_unit_test(test_a_plt_entry_has_pushed_its_index_from_byte_11_on),
        cmocka_unit_test(test_an_undefined_return_address_is_the_root),
        cmocka_unit_test(test_what_a_rule_cannot_say_is_left_to_the_fallback),
        cmocka_unit_test(test_only_code_that_calls_sigreturn_is_a_signal_trampoline),
        cmocka_unit_test(test_a_packed_rule_keeps_all_it_says),
        cmocka_unit_test(test_versions_and_augmentations_that_exist_are_read),
        cmocka_unit_test(test_without_a_search_table_the_frames_are_searched),
        cmocka_unit_test(test_a_cut_object_is_never_read_past_its_end),
        cmocka_unit_test(test_linear_search_finds_what_the_table_finds),
        cmocka_unit_test(test_damaged_tables_are_survived),
    };
    return cmocka_run_group_tests_name("eh_frame", tests, NULL, NULL);
}
