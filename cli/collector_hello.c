/* collector_hello.c: process images say hello and get the store.
 *
 * The peer is started up meanwhile and waits, so the answer comes first and the book-keeping after
 * it. Nobody waits for a peer: sockets do not block, and a client that does not say hello within
 * the time the runtime would wait is dropped. Who the peer is tells the kernel (SO_PEERCRED). */
#include "cli/collector_state.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/collector_proc.h"
#include "cli/tsc_clock.h"
#include "proto/arena.h"

enum { MAX_CLIENTS = 1024 };

static void client_drop(struct collector *collector, struct client *client)
{
    struct client **at = &collector->clients;
    while (*at != client)
        at = &(*at)->next;
    *at = client->next;
    collector->client_count--;
    /* A sandbox that was forked meanwhile holds the socket too: closing it is not enough. */
    epoll_ctl(collector->epoll, EPOLL_CTL_DEL, client->fd, NULL);
    shutdown(client->fd, SHUT_RDWR);
    close(client->fd);
    free(client);
}

static void client_add(struct collector *collector, int fd)
{
    struct client *client = heap_alloc(sizeof(*client));
    *client = (struct client){
        .next = collector->clients,
        .fd = fd,
        .deadline_ns = collector_now_ns() + MESSAGE_TIMEOUT_MS * 1000000ull,
    };
    collector->clients = client;
    collector->client_count++;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
    if (epoll_ctl(collector->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        client_drop(collector, client);
    else
        hello_read(collector, client); /* mostly it is there already */
}

void hello_accept(struct collector *collector)
{
    for (;;) {
        int fd = accept4(collector->options.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE) && collector->files.open_count > 0) {
            files_shed(&collector->files);
            continue;
        }
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0)
            return;
        if (collector->client_count >= MAX_CLIENTS)
            close(fd);
        else
            client_add(collector, fd);
    }
}

bool hello_is_client(const struct collector *collector, const void *pointer)
{
    for (const struct client *client = collector->clients; client; client = client->next)
        if (client == pointer)
            return true;
    return false;
}

int hello_expire(struct collector *collector)
{
    uint64_t now = collector_now_ns();
    int left = -1;
    for (struct client *client = collector->clients, *next; client; client = next) {
        next = client->next;
        if (client->deadline_ns <= now) {
            client_drop(collector, client);
            continue;
        }
        int own = (int)((client->deadline_ns - now) / 1000000) + 1;
        left = left < 0 || own < left ? own : left;
    }
    return left;
}

void hello_close(struct collector *collector)
{
    while (collector->clients)
        client_drop(collector, collector->clients);
}

/* Sends reply with the store's descriptor, or without when fd is -1. */
static bool send_reply(int socket, const struct message_reply *reply, int fd)
{
    struct iovec data = {.iov_base = (void *)(uintptr_t)reply, .iov_len = sizeof(*reply)};
    union {
        struct cmsghdr header; /* for the alignment */
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof(control.bytes);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(*reply);
}

/* Seeds of further images: splitmix64 (Steele, Lea, Flood 2014) over the first seed. */
static uint64_t image_seed(const struct collector *collector)
{
    uint32_t ordinal = collector->counts.images;
    if (ordinal == 0)
        return collector->options.seed;
    uint64_t z = collector->options.seed + ordinal * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/* To a process that is to stay inert. */
static void refuse(const struct collector *collector, int socket, enum message_status status)
{
    struct message_reply reply = {
        .magic = MESSAGE_MAGIC,
        .version = MESSAGE_VERSION,
        .size = sizeof(reply),
        .status = status,
        .slot_count = collector->slots.count,
        .slot_bytes = collector->slots.slot_bytes,
        .rate = collector->options.rate,
    };
    send_reply(socket, &reply, -1);
}

/* Fills the entry of a slot that slots_assign gave. */
static void fill_entry(struct collector *collector, uint32_t slot, uint32_t own_pid,
                       uint64_t start_ns)
{
    struct store_entry *entry = &collector->slots.directory->entries[slot];
    entry->pid = own_pid;
    entry->start_ns = start_ns;
}

static uint32_t flags_of(const struct collector_options *options)
{
    return (options->no_follow ? MESSAGE_FLAG_NO_FOLLOW : 0u) |
           (options->mimalloc ? MESSAGE_FLAG_MIMALLOC : 0u) |
           (options->threads ? MESSAGE_FLAG_THREADS : 0u) |
           (options->sizes ? MESSAGE_FLAG_SIZES : 0u);
}

/* The image gets a slot and the store; false when it could not be told so. */
static bool welcome(struct collector *collector, int socket, struct image *image, uint32_t own_pid)
{
    uint32_t slot = (uint32_t)image->slot;
    fill_entry(collector, slot, own_pid, image->start_ns);
    struct message_reply reply = {
        .magic = MESSAGE_MAGIC,
        .version = MESSAGE_VERSION,
        .size = sizeof(reply),
        .status = MESSAGE_OK,
        .flags = flags_of(&collector->options),
        .slot = slot,
        .slot_count = collector->slots.count,
        .slot_bytes = collector->slots.slot_bytes,
        .rate = collector->options.rate,
        .seed = image->seed,
        .tsc_hz = tsc_clock_hz(),
        .temporary_ns = collector->options.temporary_ns,
    };
    return send_reply(socket, &reply, collector->slots.fd);
}

/* A process whose pid was met before: it may have ended unnoticed, its number being reused. */
static struct process *current_process(struct collector *collector, pid_t pid)
{
    struct process *process = process_find(collector, pid);
    if (process && process->pidfd >= 0 && proc_has_ended(process->pidfd)) {
        process_end(collector, process);
        process = NULL;
    }
    return process ? process : process_add(collector, pid);
}

static void serve(struct collector *collector, int socket, pid_t pid, uint32_t own_pid)
{
    if (collector->options.no_follow && pid != collector->command) {
        refuse(collector, socket, MESSAGE_NOT_FOLLOWED);
        return;
    }
    /* Before the reply: after it the peer may end, and nothing can be learnt of it. */
    struct image image = image_new(pid, image_seed(collector));
    struct process *process = current_process(collector, pid);
    image.slot = slots_assign(&collector->slots);
    if (image.slot < 0) {
        images_scan(collector);
        images_reap(collector, process);
        image.slot = slots_assign(&collector->slots);
    }
    if (image.slot < 0) {
        collector->counts.without_slot++;
        refuse(collector, socket, MESSAGE_NO_SLOT);
        image_free(&image);
        return;
    }
    if (!welcome(collector, socket, &image, own_pid)) {
        slots_retire(&collector->slots, (uint32_t)image.slot);
        image_free(&image);
        return;
    }
    collector->counts.images++;
    /* As a forked child it may have claimed a slot just before its exec. */
    images_scan_for(collector, process, own_pid);
    if (process->is_command)
        collector->met_command = true;
    process_exec(collector, process, image);
}

/* An image that has been served goes on without something. */
static void tell_trouble(const struct collector *collector, pid_t pid, uint32_t trouble)
{
    const char *why =
        trouble == MESSAGE_TROUBLE_MIMALLOC_LOAD ? "libheapprof-mimalloc.so cannot be loaded"
        : trouble == MESSAGE_TROUBLE_MIMALLOC_SPACE
            ? "there is too little address space or memory for mimalloc (ulimit -v, -d)"
            : "of a trouble that this version does not know";
    char line[160];
    snprintf(line, sizeof(line), "process %ld does not run on mimalloc: %s", (long)pid, why);
    collector->options.say(collector->options.context, line);
}

/* A whole hello has come. */
static void judge(struct collector *collector, const struct client *client)
{
    const struct message_hello *hello = &client->hello;
    struct ucred peer;
    socklen_t size = sizeof(peer);
    if (getsockopt(client->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 0)
        return;
    if (peer.uid != geteuid() && peer.uid != 0) {
        collector->counts.strangers++;
        return;
    }
    if (hello->magic != MESSAGE_MAGIC || hello->version != MESSAGE_VERSION ||
        hello->size != sizeof(*hello)) {
        collector->counts.wrong_version++;
        return;
    }
    if (hello->trouble != MESSAGE_TROUBLE_NONE)
        tell_trouble(collector, peer.pid, hello->trouble);
    else
        serve(collector, client->fd, peer.pid, hello->pid);
}

void hello_read(struct collector *collector, struct client *client)
{
    char *hello = (char *)&client->hello;
    while (client->received < sizeof(client->hello)) {
        ssize_t got = recv(client->fd, hello + client->received,
                           sizeof(client->hello) - client->received, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0)
            break; /* a hello that ends early may be that of another version */
        client->received += (uint32_t)got;
    }
    if (client->received >= offsetof(struct message_hello, size))
        judge(collector, client);
    client_drop(collector, client);
}
