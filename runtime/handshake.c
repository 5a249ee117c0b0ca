/* handshake.c: hello, reply, and the store's memfd by SCM_RIGHTS.
 *
 * Not hook-safe. Every step is bounded by one deadline, so that a launcher that is stopped, gone or
 * not ours costs the target two seconds at most, once. */
#include "runtime/handshake.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "proto/messages.h"

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* True when the socket can be read (POLLIN) or written (POLLOUT) before the deadline. */
static bool wait_for(int socket, short events, int64_t deadline_ms)
{
    for (;;) {
        int64_t left = deadline_ms - now_ms();
        struct pollfd poll_socket = {.fd = socket, .events = events};
        int ready = left <= 0 ? 0 : poll(&poll_socket, 1, (int)left);
        if (ready > 0)
            return true;
        if (ready == 0 || errno != EINTR)
            return false;
    }
}

/* The socket does not block: a full backlog is EAGAIN, tried again until the deadline. */
static bool connect_to(int socket, const char *path, int64_t deadline_ms)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path))
        return false;
    strcpy(address.sun_path, path);
    while (connect(socket, (struct sockaddr *)&address, sizeof(address)) != 0) {
        if ((errno != EAGAIN && errno != EINTR) || now_ms() >= deadline_ms)
            return false;
        poll(NULL, 0, 1);
    }
    return true;
}

static bool send_hello(int socket, enum message_trouble trouble, int64_t deadline_ms)
{
    struct message_hello hello = {
        .magic = MESSAGE_MAGIC,
        .version = MESSAGE_VERSION,
        .size = sizeof(hello),
        .pid = (uint32_t)getpid(),
        .trouble = trouble,
    };
    return wait_for(socket, POLLOUT, deadline_ms) &&
           send(socket, &hello, sizeof(hello), MSG_NOSIGNAL) == (ssize_t)sizeof(hello);
}

/* The descriptor in a received message; -1 when there is none. */
static int received_descriptor(struct msghdr *message)
{
    struct cmsghdr *control = CMSG_FIRSTHDR(message);
    if (control == NULL || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS ||
        control->cmsg_len != CMSG_LEN(sizeof(int)))
        return -1;
    int descriptor;
    memcpy(&descriptor, CMSG_DATA(control), sizeof(int));
    return descriptor;
}

static bool receive_reply(int socket, struct message_reply *reply, int *memfd, int64_t deadline_ms)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {.iov_base = reply, .iov_len = sizeof(*reply)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    if (!wait_for(socket, POLLIN, deadline_ms))
        return false;
    ssize_t size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    *memfd = size > 0 ? received_descriptor(&message) : -1;
    return size == (ssize_t)sizeof(*reply) && reply->magic == MESSAGE_MAGIC &&
           reply->version == MESSAGE_VERSION && reply->size == sizeof(*reply) && reply->rate >= 1 &&
           (reply->status != MESSAGE_OK || *memfd >= 0) && reply->slot < reply->slot_count;
}

static int open_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

bool handshake(const char *path, struct message_reply *reply, int *memfd)
{
    int64_t deadline_ms = now_ms() + MESSAGE_TIMEOUT_MS;
    int connection = open_socket();
    *memfd = -1;
    if (connection < 0)
        return false;
    bool ok = connect_to(connection, path, deadline_ms) &&
              send_hello(connection, MESSAGE_TROUBLE_NONE, deadline_ms) &&
              receive_reply(connection, reply, memfd, deadline_ms);
    close(connection);
    if (!ok && *memfd >= 0) {
        close(*memfd);
        *memfd = -1;
    }
    return ok;
}

void handshake_tell(const char *path, uint32_t trouble)
{
    int64_t deadline_ms = now_ms() + MESSAGE_TIMEOUT_MS;
    int connection = open_socket();
    if (connection < 0)
        return;
    if (connect_to(connection, path, deadline_ms))
        send_hello(connection, (enum message_trouble)trouble, deadline_ms);
    close(connection);
}
