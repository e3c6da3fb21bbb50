/*
 * The recorder's side of the control socket: takes clients, reads their requests, and sends
 * answers. It never waits for a client: one that does not read its answer is closed. Of more than
 * CONTROL_MAX_CLIENTS the one that has been silent for the longest time is closed.
 */
#ifndef RECORD_STEER_CONTROL_H
#define RECORD_STEER_CONTROL_H

#include "trace/live/control_packet.h"
#include "trace/live/control_socket.h"

#include <errno.h>
#include <stdint.h>

#define CONTROL_MAX_CLIENTS 8

/* Why a command to a recorder is refused. */
struct refusal {
	const char *why;  /* one line for the user, with a way out; NULL: it was not refused */
	int err;          /* an errno for the trace */
	const char *note; /* one line for the user, where it was not refused; mostly NULL */
};

#define NOT_REFUSED   ((struct refusal){0})
#define REFUSED(e, w) ((struct refusal){.why = (w), .err = (e)})

/*
 * Prints the reason, or the note of a command that is not refused. The line is valid until the next
 * call of either: the answer is sent before.
 */
__attribute__((format(printf, 2, 3))) struct refusal control_refuse(int err, const char *format,
                                                                    ...);
__attribute__((format(printf, 1, 2))) struct refusal control_note(const char *format, ...);

struct control_client {
	int fd; /* -1: this place is free */
	struct ucred peer;
	uint64_t last; /* number of the turn in which it was heard last */
};

struct control {
	int poll_fd; /* readable when there is something to do; -1: there is no socket */
	int listen_fd;
	const char *image_file;
	int memory_fd; /* of the image's memory, to be read; -1: it is in the image's file */
	uint64_t turn;
	struct control_client clients[CONTROL_MAX_CLIENTS];
};

/* Does what a client asks for, and fills in the answer, which is a failure without reason before.
 */
typedef void control_fn(void *arg, const struct control_request *request, const struct ucred *peer,
                        struct control_answer *answer);

/*
 * Opens the socket of the image, whose name must outlive the control. NULL: there is none, and thus
 * no socket. memory_fd: the memory that clients are given when they ask for it, which stays the
 * caller's; -1: they are given none. 0 or -errno.
 */
int control_open(struct control *control, const char *image_file, int memory_fd);
/* Takes at most one client, and one request of each. */
void control_serve(struct control *control, control_fn *fn, void *arg);
void control_close(struct control *control);

#endif
