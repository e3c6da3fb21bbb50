#include "cli/ctl/exchange.h"

#include "trace/live/control_socket.h"
#include "trace/live/shm_image.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* A recorder that starts has an image before it has a socket. */
enum { CONNECT_TRIES = 50 };
static const struct timespec before_next_try = {.tv_nsec = 20000000};

static bool is_at_work(const char *image_file)
{
	enum shm_image_holder holder;
	int fd = shm_image_peek(image_file, &holder);

	if (fd < 0)
		return false;
	close(fd);
	return holder == SHM_IMAGE_RECORDER;
}

static int connect_patiently(const char *image_file)
{
	int fd = control_socket_connect(image_file);

	for (unsigned i = 0;
	     (fd == -ENOENT || fd == -ECONNREFUSED) && i < CONNECT_TRIES && is_at_work(image_file);
	     i++) {
		nanosleep(&before_next_try, NULL);
		fd = control_socket_connect(image_file);
	}
	return fd;
}

/* Tells whether the last call failed because nobody is at the other end any more. */
static bool has_ended(void)
{
	return errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN;
}

static int exchange_over(int fd, const char *packet, size_t size, struct control_answer *answer)
{
	char received[CONTROL_PACKET_MAX];
	ssize_t got;

	if (send(fd, packet, size, MSG_NOSIGNAL) != (ssize_t)size)
		return has_ended() ? -ENOENT : -errno;
	got = recv(fd, received, sizeof(received), 0);
	if (got < 0)
		return has_ended() ? -ENOENT : -errno;
	if (!got)
		return -ENOENT;
	return control_answer_parse(received, (size_t)got, answer) ? 0 : -EBADMSG;
}

int exchange_packet(const char *image_file, const char *packet, size_t size,
                    struct control_answer *answer)
{
	int fd = connect_patiently(image_file), err;

	*answer = (struct control_answer){0};
	if (fd < 0)
		return fd;
	err = exchange_over(fd, packet, size, answer);
	close(fd);
	return err;
}

int exchange(const char *image_file, const struct control_request *request,
             struct control_answer *answer)
{
	char packet[CONTROL_PACKET_MAX];
	size_t size = control_request_print(request, packet);

	return size ? exchange_packet(image_file, packet, size, answer) : -EMSGSIZE;
}

void exchange_explain(int err, char text[EXCHANGE_TEXT])
{
	if (err == -ENOENT || err == -ECONNREFUSED)
		snprintf(text, EXCHANGE_TEXT, "the recorder has just ended");
	else if (err == -EAGAIN)
		snprintf(text, EXCHANGE_TEXT, "the recorder does not answer");
	else
		snprintf(text, EXCHANGE_TEXT, "cannot reach the recorder: %s", strerror(-err));
}
