/*
 * The socket through which processes request the memory for their calls, see preload/call_ring.h.
 * Requests without the key are dropped by a filter in the kernel.
 */
#ifndef RECORD_CALLS_CALLS_SOCKET_H
#define RECORD_CALLS_CALLS_SOCKET_H

#include "preload/call_ring.h"
#include "record/calls/call_libraries.h"

#include <limits.h>
#include <sys/socket.h>
#include <sys/un.h>

struct calls_socket {
	int fd;                       /* readable while a request waits; -1: not open */
	char name[RING_KEY_SIZE + 1]; /* abstract, without the leading NUL */
	char key[RING_KEY_SIZE + 1];
	/* RING_OPENMP_REGIONS or RING_OPENMP_THREADS, as targets are told; NULL: nothing */
	const char *openmp;
};

/* The sender of a request. */
struct calls_asker {
	pid_t pid;
	struct sockaddr_un address;
	socklen_t address_size;
};

/* Returns 0, or -errno: then there is nothing to close. */
int calls_socket_open(struct calls_socket *socket);
void calls_socket_close(struct calls_socket *socket);

/*
 * Finds a library that runs inside targets, beside the executable or in ../lib/adaptrace from
 * there. Returns 0; -ENOENT if it is not there; -EINVAL if its path has a character at which the
 * library's variable would be cut.
 */
int preload_path(char path[PATH_MAX], const struct call_library *library);

/*
 * Returns a copy of the environment that makes a target and all its children load the library at
 * `path` and connect to this socket. It is one piece of memory, to be freed, whose strings are in
 * it or belong to `environment`. Returns NULL if there is no memory.
 */
char **calls_socket_environment(const struct calls_socket *socket, char **environment,
                                const struct call_library *library, const char *path);

/*
 * Receives the next request. Returns 1, or 0 if the sender is not permitted, or -1 if there is
 * none.
 */
int calls_socket_next(const struct calls_socket *socket, struct calls_asker *asker);

/*
 * Answers a request with the descriptor of the memory, or refuses it if `memory` is -1. Returns
 * false with errno if the answer cannot be sent.
 */
bool calls_socket_answer(const struct calls_socket *socket, struct calls_asker *asker, int memory);

#endif
