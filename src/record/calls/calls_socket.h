/*
 * The socket at which processes ask for the memory that their calls go through, see preload/ring.h.
 * The kernel lets nobody be heard there who does not send the key.
 */
#ifndef RECORD_CALLS_CALLS_SOCKET_H
#define RECORD_CALLS_CALLS_SOCKET_H

#include "preload/call_ring.h"

#include <sys/socket.h>
#include <sys/un.h>

struct calls_socket {
	int fd;                       /* readable while somebody asks; -1: not open */
	char name[RING_KEY_SIZE + 1]; /* abstract, without the leading NUL */
	char key[RING_KEY_SIZE + 1];
};

/* Who asks. */
struct calls_asker {
	pid_t pid;
	struct sockaddr_un address;
	socklen_t address_size;
};

/* 0 or -errno: there is nothing to close. */
int calls_socket_open(struct calls_socket *socket);
void calls_socket_close(struct calls_socket *socket);

/*
 * This environment with what lets a target, and all its children, load the library and ask here:
 * one piece of memory, to be freed, whose strings are that or the environment's. NULL: no memory.
 */
char **calls_socket_environment(const struct calls_socket *socket, char **environment,
                                const char *library);

/* The next who asks. 1, 0: it has no business here, -1: there is none. */
int calls_socket_next(const struct calls_socket *socket, struct calls_asker *asker);

/* Sends the memory; -1: it is refused. False with errno: the answer does not arrive. */
bool calls_socket_answer(const struct calls_socket *socket, struct calls_asker *asker, int memory);

#endif
