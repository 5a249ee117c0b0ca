/* hook_libunwind.c: walks a stack with libunwind where a frame is beyond the table walker.
 *
 * Hook-safe: runs in the target's malloc on any thread, also in signal handlers.
 * libunwind needs up to 8 KiB of stack: more than a thread with the smallest stack has left, so it
 * gets 64 KiB of .bss; who finds all of these stacks taken goes without. Signals are blocked
 * meanwhile: a handler of the target's must not run on our stack, nor leave it by longjmp.
 * What libunwind may read: the thread's stack, the readable segments of loaded objects, and what
 * the kernel says can be read. It guesses by rbp where it has no unwind information; such frames
 * are not taken. Costs some 20 us a stack; nothing is cached, so nothing is stale.
 * Source: unw_create_addr_space(3), libunwind 1.6 src/x86_64/Gstep.c. */
#include "runtime/hook_libunwind.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>

#include "runtime/hook_eh_frame.h"
#include "runtime/hook_eh_reader.h"
#include "runtime/hook_stack_bounds.h"
#include "runtime/hook_stack_own.h"
#include "runtime/hook_syscall.h"

enum { PRIVATE_STACK_BYTES = 64 << 10, KERNEL_SIGSET_BYTES = 8, FRAMES_LEFT_OUT_MAX = 256 };

struct libunwind libunwind;

/* One walk at a time: a child forked inside it finds it taken and stays out of libunwind's locks.
 */
enum { PRIVATE_STACKS = 1 };
static char private_stack[PRIVATE_STACKS][PRIVATE_STACK_BYTES] __attribute__((aligned(64)));
static _Atomic uint32_t free_stacks = (1u << PRIVATE_STACKS) - 1;

/* The number of a stack nobody else uses; PRIVATE_STACKS when there is none. */
static unsigned take_stack(void)
{
    uint32_t available = atomic_load_explicit(&free_stacks, memory_order_relaxed);
    while (available != 0) {
        unsigned stack = (unsigned)__builtin_ctz(available);
        /* Acquire: pairs with the release in give_stack; its former user is done with it. */
        if (atomic_compare_exchange_weak_explicit(&free_stacks, &available,
                                                  available & ~(1u << stack), memory_order_acquire,
                                                  memory_order_relaxed))
            return stack;
    }
    return PRIVATE_STACKS;
}

static void give_stack(unsigned stack)
{
    /* Release: pairs with the acquire in take_stack. */
    atomic_fetch_or_explicit(&free_stacks, 1u << stack, memory_order_release);
}

/* One walk: the argument of all accessors. */
struct remote {
    const struct stack_registers *registers;
    struct stack_bounds stack;
    struct stack_bounds elsewhere;
    uintptr_t segment; /* [segment, segment_limit): a readable segment, the one used last */
    uintptr_t segment_limit;
    bool no_information; /* the last step found no FDE: what it gives is a guess */
    uint64_t *pcs;
    size_t capacity;
    size_t count;
    enum stack_end end;
};

static bool in_segment(struct remote *remote, uintptr_t address)
{
    struct dl_find_object found;
    if (address >= remote->segment && address < remote->segment_limit)
        return remote->segment_limit - address >= 8;
    if (_dl_find_object((void *)address, &found) != 0 ||
        !eh_frame_segment(&found, address, &remote->segment, &remote->segment_limit))
        return false;
    /* A segment's last page is mapped whole, and libunwind reads whole words. */
    remote->segment_limit = (remote->segment_limit + 4095) & ~UINT64_C(4095);
    return remote->segment_limit - address >= 8;
}

static int access_memory(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write,
                         void *argument)
{
    struct remote *remote = argument;
    (void)space;
    if (write != 0)
        return -UNW_EINVAL;
    if (!stack_bounds_hold(remote->stack, address) && !in_segment(remote, address) &&
        !stack_bounds_hold(remote->elsewhere, address) &&
        !stack_bounds_widen(&remote->elsewhere, address))
        return -UNW_EINVAL;
    memcpy(value, (const void *)address, sizeof(*value));
    return 0;
}

static int access_register(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value,
                           int write, void *argument)
{
    const struct stack_registers *registers = ((struct remote *)argument)->registers;
    const uint64_t known[] = {
        [UNW_X86_64_RBX] = registers->rbx,
        [UNW_X86_64_RBP] = registers->rbp,
        [UNW_X86_64_R12] = registers->r12,
        [UNW_X86_64_R13] = registers->r13,
        [UNW_X86_64_R14] = registers->r14,
        [UNW_X86_64_R15] = registers->r15,
        /* A call site is looked up by its last byte; the first frame counts as interrupted. */
        [UNW_X86_64_RIP] = registers->rip - 1,
        [UNW_X86_64_RSP] = (uint64_t)(registers + 1),
    };
    (void)space;
    if (write != 0 || number < 0 || (size_t)number >= sizeof(known) / sizeof(known[0]))
        return -UNW_EBADREG;
    *value = known[number];
    return 0;
}

/* .eh_frame_hdr with the encodings that libunwind's search needs: function and FDE as 32-bit
 * offsets from the header. */
static bool table_of(uintptr_t header, unw_dyn_info_t *table)
{
    enum { DATAREL_SDATA4 = EH_PE_DATAREL | EH_PE_SDATA4 };
    struct eh_reader in = {(const uint8_t *)header, (const uint8_t *)header + 12, false};
    bool known = eh_unsigned(&in, 1) == 1;
    uint8_t frames_encoding = (uint8_t)eh_unsigned(&in, 1);
    known = eh_unsigned(&in, 1) == EH_PE_UDATA4 && known;
    known = eh_unsigned(&in, 1) == DATAREL_SDATA4 && known;
    eh_pointer(&in, frames_encoding, header);
    table->u.rti.table_len = eh_unsigned(&in, 4);
    table->u.rti.table_data = (uintptr_t)in.at;
    table->u.rti.segbase = header;
    table->format = UNW_INFO_FORMAT_REMOTE_TABLE;
    return known && !in.bad && in.at == in.end;
}

static int find_procedure(unw_addr_space_t space, unw_word_t pc, unw_proc_info_t *info,
                          int need_unwind_info, void *argument)
{
    struct remote *remote = argument;
    struct dl_find_object found;
    struct eh_frame_object object;
    unw_dyn_info_t table;
    int failure = -UNW_ENOINFO;
    memset(&table, 0, sizeof(table));
    if (_dl_find_object((void *)pc, &found) == 0 && eh_frame_object_init(&object, &found, pc) &&
        object.tables_limit - object.header >= 12 && table_of(object.header, &table)) {
        table.start_ip = (unw_word_t)found.dlfo_map_start;
        table.end_ip = (unw_word_t)found.dlfo_map_end;
        failure =
            libunwind.search_unwind_table(space, pc, &table, info, need_unwind_info, argument);
    }
    remote->no_information = failure < 0;
    return failure;
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *argument)
{
    (void)space;
    (void)info;
    (void)argument;
}

static int no_dynamic_list(unw_addr_space_t space, unw_word_t *list, void *argument)
{
    (void)space;
    (void)list;
    (void)argument;
    return -UNW_ENOINFO;
}

static int no_float_register(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value,
                             int write, void *argument)
{
    (void)space;
    (void)number;
    (void)value;
    (void)write;
    (void)argument;
    return -UNW_EBADREG;
}

static int no_resume(unw_addr_space_t space, unw_cursor_t *cursor, void *argument)
{
    (void)space;
    (void)cursor;
    (void)argument;
    return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t space, unw_word_t pc, char *name, size_t size,
                   unw_word_t *offset, void *argument)
{
    (void)space;
    (void)pc;
    (void)name;
    (void)size;
    (void)offset;
    (void)argument;
    return -UNW_ENOINFO;
}

unw_accessors_t libunwind_accessors = {
    .find_proc_info = find_procedure,
    .put_unwind_info = put_unwind_info,
    .get_dyn_info_list_addr = no_dynamic_list,
    .access_mem = access_memory,
    .access_reg = access_register,
    .access_fpreg = no_float_register,
    .resume = no_resume,
    .get_proc_name = no_name,
};

/* Records one frame. False when there is no room left for it. */
static bool record(struct remote *remote, uint64_t pc)
{
    if (stack_own_holds(pc))
        return true;
    if (remote->count == remote->capacity) {
        remote->end = STACK_END_DEPTH;
        return false;
    }
    remote->pcs[remote->count++] = pc;
    return true;
}

/* The frame recorded last turns out to be a signal trampoline: it was not called, so its pc is its
 * first byte; and when all inside it is ours, the leaf is what it interrupted. */
static void correct_trampoline(struct remote *remote)
{
    if (remote->count == 1)
        remote->count = 0;
    else if (remote->count > 1)
        remote->pcs[remote->count - 1]++;
}

/* Runs on the private stack. */
static void walk(void *argument)
{
    struct remote *remote = argument;
    unw_cursor_t cursor;
    int more = 1;
    remote->end = STACK_END_UNKNOWN;
    if (libunwind.init_remote(&cursor, libunwind.space, remote) < 0)
        return;
    for (size_t i = 0; i < remote->capacity + FRAMES_LEFT_OUT_MAX; i++) {
        /* libunwind's "signal frame" is the one that was interrupted. */
        bool interrupted = libunwind.is_signal_frame(&cursor) > 0;
        bool exact = interrupted || i == 0; /* the first pc is the call site already */
        unw_word_t pc;
        if (interrupted)
            correct_trampoline(remote);
        if (libunwind.get_reg(&cursor, UNW_REG_IP, &pc) < 0)
            return;
        if (pc == 0 || more == 0)
            remote->end = interrupted ? STACK_END_UNKNOWN : STACK_END_ROOT;
        if (pc == 0 || more == 0 || !record(remote, exact ? pc : pc - 1))
            return;
        remote->no_information = false;
        more = libunwind.step(&cursor);
        if (more < 0 || remote->no_information)
            return;
    }
    remote->end = STACK_END_DEPTH;
}

/* Calls function(argument) with rsp at top (16-aligned). */
void libunwind_call_on(void (*function)(void *), void *argument, void *top)
    __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".hidden libunwind_call_on\n"
        ".globl libunwind_call_on\n"
        ".type libunwind_call_on, @function\n"
        "libunwind_call_on:\n"
        "    .cfi_startproc\n"
        "    push %rbp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset %rbp, -16\n"
        "    mov %rsp, %rbp\n"
        "    .cfi_def_cfa_register %rbp\n"
        "    mov %rdx, %rsp\n"
        "    mov %rdi, %rax\n"
        "    mov %rsi, %rdi\n"
        "    call *%rax\n"
        "    mov %rbp, %rsp\n"
        "    pop %rbp\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size libunwind_call_on, . - libunwind_call_on\n");

bool libunwind_walk(const struct stack_registers *registers, uint64_t *pcs, size_t capacity,
                    size_t *count, enum stack_end *end)
{
    struct remote remote = {.registers = registers, .pcs = pcs, .capacity = capacity};
    uint64_t all = UINT64_MAX;
    uint64_t before = 0;
    int saved_errno = errno;
    if (libunwind.space == NULL)
        return false;
    if (raw_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before,
                     KERNEL_SIGSET_BYTES) != 0)
        return false;
    unsigned stack = take_stack();
    if (stack < PRIVATE_STACKS) {
        stack_bounds_init(&remote.stack, (uintptr_t)(registers + 1), true);
        libunwind_call_on(walk, &remote, private_stack[stack] + PRIVATE_STACK_BYTES);
        give_stack(stack);
        *count = remote.count;
        *end = remote.end;
    }
    raw_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, KERNEL_SIGSET_BYTES);
    errno = saved_errno;
    return stack < PRIVATE_STACKS;
}

void libunwind_restart(void)
{
    if (atomic_load_explicit(&free_stacks, memory_order_relaxed) != (1u << PRIVATE_STACKS) - 1)
        libunwind.space = NULL;
}
