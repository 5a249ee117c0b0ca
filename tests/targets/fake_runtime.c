/* fake_runtime.c: speaks the launcher's protocol by hand, so that the collector can be tested with
 * any behaviour a process may show. Carries out its arguments one after another:
 *
 *   hello          says hello and maps the store (exit 9 when refused)
 *   hello?         the same, but prints the reply's status and goes on when refused
 *   old            says hello in another version, waits until the launcher hangs up
 *   silent=N       opens N connections and says nothing
 *   record=N       N bytes, in one object, allocated in record() and still in use
 *   free           what was recorded is in use no more
 *   scribble=SEED  random bytes over the whole slot but the header's magic and version
 *   wipe           zeros over the slot's header; "smash": ones
 *   child ... end  forks; the child carries out what stands between and exits
 *   claim          takes a slot as a forked child
 *   wait           waits for all children
 *   read=FIFO      waits until somebody has opened the FIFO for writing and closed it again
 *   write=FIFO     opens the FIFO for writing and closes it again
 *   quiet          stdin, stdout and stderr become /dev/null
 *   setsid, print=TEXT, kill=SIGNAL, exit=STATUS, exec (itself with the rest)
 *
 * Expected: one sample of `record=N`, N bytes and 1 object in all six types (in use 0 after free).
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "proto/messages.h"
#include "proto/store_layout.h"

static struct store_directory *directory;
static char *slot;
static struct store_geometry geometry;
static uint64_t rate;
static uint32_t slot_number;

static int dial(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = getenv(HEAPPROF_ENV_SOCKET);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (!path || strlen(path) >= sizeof(address.sun_path))
        exit(8);
    strcpy(address.sun_path, path);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        exit(7);
    return fd;
}

static void use_slot(uint32_t number)
{
    slot_number = number;
    slot = (char *)directory + directory->slots_offset + number * directory->slot_bytes;
    struct store_header *header = (struct store_header *)slot;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    header->version = STORE_VERSION;
    header->slot_bytes = directory->slot_bytes;
    header->rate = rate;
    header->start_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    header->node_count = header->stack_count = 1;
    header->magic = STORE_MAGIC;
}

/* The first executable line of our own maps is the program's text. */
static void add_module(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512], flags[8];
    unsigned long start, limit, offset;
    while (maps && fgets(line, sizeof(line), maps))
        if (sscanf(line, "%lx-%lx %7s %lx", &start, &limit, flags, &offset) == 4 && flags[2] == 'x')
            break;
    fclose(maps);
    struct store_module *module = (struct store_module *)(slot + geometry.modules_offset);
    *module = (struct store_module){.state = STORE_MODULE_LOADED,
                                    .text_start = start,
                                    .text_limit = limit,
                                    .file_offset = offset};
    ((struct store_header *)slot)->module_count = 1;
}

static void wake(void)
{
    __atomic_fetch_add(&directory->wake, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &directory->wake, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static int hello(int tolerant)
{
    struct message_hello message = {
        .magic = MESSAGE_MAGIC,
        .version = MESSAGE_VERSION,
        .size = sizeof(message),
        .pid = (uint32_t)getpid(),
    };
    struct message_reply reply = {0};
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec data = {&reply, sizeof(reply)};
    struct msghdr header = {.msg_iov = &data,
                            .msg_iovlen = 1,
                            .msg_control = control,
                            .msg_controllen = sizeof(control)};
    int fd = dial(), store = -1;
    if (send(fd, &message, sizeof(message), 0) != (ssize_t)sizeof(message) ||
        recvmsg(fd, &header, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(reply))
        exit(6);
    if (tolerant)
        printf("status %u\n", reply.status);
    if (reply.status != MESSAGE_OK)
        return tolerant ? 0 : (exit(9), 0);
    memcpy(&store, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof(store));
    close(fd);
    size_t size = store_slots_offset(reply.slot_count) + reply.slot_count * reply.slot_bytes;
    directory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, store, 0);
    close(store);
    if (directory == MAP_FAILED || !store_geometry_of(reply.slot_bytes, &geometry))
        exit(5);
    rate = reply.rate;
    use_slot(reply.slot);
    add_module();
    wake();
    return 0;
}

static __attribute__((noinline)) void record(uint64_t bytes)
{
    struct store_header *header = (struct store_header *)slot;
    struct store_node *nodes = (struct store_node *)(slot + geometry.nodes_offset);
    struct store_stack *stacks = (struct store_stack *)(slot + geometry.stacks_offset);
    uint32_t id = header->stack_count;
    struct store_counts counts = {.objects_q16 = 65536, .bytes = bytes, .samples = 1};
    nodes[id] = (struct store_node){.pc_word = (uint64_t)(uintptr_t)&record + 1, .stack = id};
    stacks[id] = (struct store_stack){.node = id, .depth = 1, .alloc = counts, .inuse = counts};
    header->live.low = 1ull << 48; /* epoch 1, which no stack has saved: in use is the peak */
    header->node_count = header->stack_count = id + 1;
}

static void release(void)
{
    struct store_header *header = (struct store_header *)slot;
    struct store_stack *stacks = (struct store_stack *)(slot + geometry.stacks_offset);
    for (uint32_t i = 1; i < header->stack_count; i++) {
        stacks[i].saved = stacks[i].inuse;
        stacks[i].saved_epoch = 1;
        stacks[i].inuse = (struct store_counts){0};
    }
}

static void scribble(unsigned seed)
{
    srandom(seed);
    uint32_t *words = (uint32_t *)slot;
    for (uint64_t i = 3; i < directory->slot_bytes / 4; i++)
        words[i] = (uint32_t)random() << (random() % 24);
}

static void claim(void)
{
    uint32_t parent = slot_number;
    for (uint32_t i = 0; i < directory->slot_count; i++) {
        uint32_t expected = STORE_ENTRY_FREE;
        struct store_entry *entry = &directory->entries[i];
        if (!__atomic_compare_exchange_n(&entry->state, &expected, STORE_ENTRY_CLAIMED, 0,
                                         __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        use_slot(i);
        add_module();
        entry->pid = (uint32_t)getpid();
        entry->parent_slot = parent;
        entry->fork_ordinal = __atomic_add_fetch(&directory->fork_ordinal, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&entry->state, STORE_ENTRY_FORKED, __ATOMIC_RELEASE);
        wake();
        return;
    }
    exit(4);
}

static void speak_old(void)
{
    struct message_hello message = {.magic = MESSAGE_MAGIC, .version = 99, .size = 24};
    int fd = dial();
    char byte;
    if (send(fd, &message, 24, 0) != 24 || shutdown(fd, SHUT_WR) != 0 || read(fd, &byte, 1) != 0)
        exit(3);
    close(fd);
}

/* The command after the "end" that closes the "child" at i. */
static int behind_child(char **words, int i)
{
    for (int depth = 1; words[i] && depth > 0;) {
        i++;
        depth += strcmp(words[i], "child") == 0;
        depth -= strcmp(words[i], "end") == 0;
    }
    return i;
}

static int start_child(char **words, int i)
{
    fflush(stdout);
    return fork() == 0 ? i : behind_child(words, i);
}

static void wait_on(const char *fifo)
{
    char byte;
    int fd = open(fifo, O_RDONLY | O_CLOEXEC);
    while (read(fd, &byte, 1) > 0)
        continue;
    close(fd);
}

static void obey(const char *word, const char *value)
{
    if (strncmp(word, "hello", 5) == 0)
        hello(word[5] == '?');
    else if (strcmp(word, "old") == 0)
        speak_old();
    else if (strcmp(word, "silent") == 0)
        for (int n = atoi(value); n > 0; n--)
            dial();
    else if (strcmp(word, "record") == 0)
        record(strtoull(value, NULL, 10));
    else if (strcmp(word, "free") == 0)
        release();
    else if (strcmp(word, "scribble") == 0)
        scribble((unsigned)atoi(value));
    else if (strcmp(word, "wipe") == 0)
        memset(slot, 0, sizeof(struct store_header));
    else if (strcmp(word, "smash") == 0)
        memset(slot, 255, sizeof(struct store_header));
    else if (strcmp(word, "claim") == 0)
        claim();
    else if (strcmp(word, "wait") == 0)
        while (wait(NULL) > 0)
            continue;
    else if (strcmp(word, "read") == 0)
        wait_on(value);
    else if (strcmp(word, "write") == 0)
        close(open(value, O_WRONLY | O_CLOEXEC));
    else if (strcmp(word, "quiet") == 0)
        dup2(dup2(dup2(open("/dev/null", O_RDWR), 0), 1), 2);
    else if (strcmp(word, "setsid") == 0)
        setsid();
    else if (strcmp(word, "print") == 0)
        puts(value);
    else if (strcmp(word, "kill") == 0)
        raise(atoi(value));
    else if (strcmp(word, "exit") == 0 || strcmp(word, "end") == 0)
        exit(value ? atoi(value) : 0);
    else
        exit(2);
}

int main(int argc, char **argv)
{
    (void)argc;
    for (int i = 1; argv[i]; i++) {
        char *word = strdup(argv[i]);
        char *value = strchr(word, '=');
        if (value)
            *value++ = '\0';
        if (strcmp(word, "child") == 0) {
            i = start_child(argv, i);
        } else if (strcmp(word, "exec") == 0) {
            argv[i] = argv[0];
            fflush(stdout);
            execv("/proc/self/exe", argv + i);
            exit(1);
        } else {
            obey(word, value);
        }
        free(word);
    }
    return 0;
}
