#include "record/steer/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* Its number in epoll's data, behind those of clients. */
#define LISTENER CONTROL_MAX_CLIENTS

static const char *print_line(const char *format, va_list args)
{
	static char line[CONTROL_ERROR_MAX + 1];

	vsnprintf(line, sizeof(line), format, args);
	return line;
}

struct refusal control_refuse(int err, const char *format, ...)
{
	struct refusal refusal = {.err = err};
	va_list args;

	va_start(args, format);
	refusal.why = print_line(format, args);
	va_end(args);
	return refusal;
}

struct refusal control_note(const char *format, ...)
{
	struct refusal refusal = NOT_REFUSED;
	va_list args;

	va_start(args, format);
	refusal.note = print_line(format, args);
	va_end(args);
	return refusal;
}

static int watch(const struct control *control, int fd, unsigned number)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = number};

	return epoll_ctl(control->poll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* Clients get a descriptor that they can only read by. Returns it, or -errno. */
static int open_to_read(int fd)
{
	char self[64];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	fd = open(self, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int control_open(struct control *control, const char *image_file, int memory_fd)
{
	int err;

	*control = (struct control){
		.poll_fd = -1, .listen_fd = -1, .memory_fd = -1, .image_file = image_file};
	for (unsigned i = 0; i < CONTROL_MAX_CLIENTS; i++)
		control->clients[i].fd = -1;
	if (!image_file)
		return 0;
	control->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (control->poll_fd < 0)
		return -errno;
	if (memory_fd >= 0)
		control->memory_fd = open_to_read(memory_fd);
	control->listen_fd = control_socket_listen(image_file);
	err = control->listen_fd < 0 ? control->listen_fd
	                             : watch(control, control->listen_fd, LISTENER);
	if (err)
		control_close(control);
	return err;
}

static void drop(struct control_client *client)
{
	if (client->fd >= 0)
		close(client->fd);
	client->fd = -1;
}

void control_close(struct control *control)
{
	if (control->poll_fd < 0)
		return;
	for (unsigned i = 0; i < CONTROL_MAX_CLIENTS; i++)
		drop(&control->clients[i]);
	if (control->listen_fd >= 0) {
		control_socket_remove(control->image_file);
		close(control->listen_fd);
	}
	if (control->memory_fd >= 0)
		close(control->memory_fd);
	close(control->poll_fd);
	control->poll_fd = control->listen_fd = control->memory_fd = -1;
}

/* Returns a free place, or that of the client that has been silent for the longest time. */
static struct control_client *find_place(struct control *control)
{
	struct control_client *place = &control->clients[0];

	for (unsigned i = 0; i < CONTROL_MAX_CLIENTS; i++) {
		struct control_client *client = &control->clients[i];

		if (client->fd < 0)
			return client;
		if (client->last < place->last)
			place = client;
	}
	return place;
}

static void take_client(struct control *control)
{
	int fd = accept4(control->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct control_client *client;
	struct ucred peer;

	if (fd < 0)
		return;
	if (!control_socket_peer(fd, &peer)) {
		close(fd);
		return;
	}
	client = find_place(control);
	drop(client);
	*client = (struct control_client){fd, peer, control->turn};
	if (watch(control, fd, (unsigned)(client - control->clients)))
		drop(client);
}

/* passed: a descriptor that goes with it; -1: none does. */
static bool send_answer(int fd, const struct control_answer *answer, int passed)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
	                        .cmsg_level = SOL_SOCKET,
	                        .cmsg_type = SCM_RIGHTS}};
	char packet[CONTROL_PACKET_MAX];
	size_t size = control_answer_print(answer, packet);
	struct iovec part = {packet, size};
	const struct msghdr message = {.msg_iov = &part,
	                               .msg_iovlen = 1,
	                               .msg_control = passed < 0 ? NULL : &control,
	                               .msg_controllen = passed < 0 ? 0 : sizeof(control)};

	memcpy(CMSG_DATA(&control.header), &passed, sizeof(passed));
	return size && sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
}

/* Returns the descriptor that goes with the answer; -1: none does. */
static int give_memory(const struct control *control, struct control_answer *answer)
{
	answer->ok = control->memory_fd >= 0;
	if (!answer->ok)
		snprintf(answer->error, sizeof(answer->error), "the image is a file in /dev/shm");
	return control->memory_fd;
}

static void answer_packet(const struct control *control, struct control_client *client,
                          const char *packet, size_t size, control_fn *fn, void *arg)
{
	struct control_request request;
	struct control_answer answer = {0};
	const char *wrong = control_request_parse(packet, size, &request);
	int passed = -1;

	if (wrong)
		snprintf(answer.error, sizeof(answer.error), "%s", wrong);
	else if (request.command == CONTROL_IMAGE)
		passed = give_memory(control, &answer);
	else
		fn(arg, &request, &client->peer, &answer);
	if (!send_answer(client->fd, &answer, passed))
		drop(client);
}

/* With MSG_TRUNC the size of a packet that is too large is known, so that it is refused. */
static void serve_client(struct control *control, struct control_client *client, control_fn *fn,
                         void *arg)
{
	char packet[CONTROL_PACKET_MAX];
	ssize_t size;

	if (client->fd < 0)
		return;
	size = recv(client->fd, packet, sizeof(packet), MSG_DONTWAIT | MSG_TRUNC);
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	client->last = control->turn;
	if (size <= 0)
		drop(client);
	else
		answer_packet(control, client, packet, (size_t)size, fn, arg);
}

/* Clients first: a new one may take the place of one that has just asked. */
void control_serve(struct control *control, control_fn *fn, void *arg)
{
	struct epoll_event events[CONTROL_MAX_CLIENTS + 1];
	int nr = epoll_wait(control->poll_fd, events, CONTROL_MAX_CLIENTS + 1, 0);
	bool knock = false;

	control->turn++;
	for (int i = 0; i < nr; i++) {
		if (events[i].data.u32 == LISTENER)
			knock = true;
		else
			serve_client(control, &control->clients[events[i].data.u32], fn, arg);
	}
	if (knock)
		take_client(control);
}
