/* handshake.h: what is said to the launcher (proto/messages.h): hello, and what goes wrong then. */
#ifndef HEAPPROF_RUNTIME_HANDSHAKE_H
#define HEAPPROF_RUNTIME_HANDSHAKE_H

#include <stdbool.h>
#include <stdint.h>

struct message_reply;

/* Says hello on the socket at path and waits for the reply, at most MESSAGE_TIMEOUT_MS in all.
 * True with a valid *reply and, when its status is MESSAGE_OK, the store's descriptor in *memfd,
 * which the caller closes (-1 else). Leaves no other descriptor. Constructor only. */
bool handshake(const char *path, struct message_reply *reply, int *memfd);

/* Tells the launcher of a message_trouble. Constructor only; what cannot be told is not. */
void handshake_tell(const char *path, uint32_t trouble);

#endif
