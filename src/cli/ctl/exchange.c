#include "cli/ctl/exchange.h"

#include "trace/live/image_memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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
	int fd = image_connect(image_file), err;

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
