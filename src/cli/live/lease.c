#include "cli/live/lease.h"

#include "base/clock.h"
#include "trace/live/control_packet.h"
#include "trace/live/control_socket.h"

#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

#define LEASED_SECONDS 3
#define RENEWAL        ((uint64_t)1000000000)

void lease_init(struct lease *lease, const char *image_file)
{
	*lease = (struct lease){.image_file = image_file, .fd = -1};
}

static void disconnect(struct lease *lease)
{
	if (lease->fd >= 0)
		close(lease->fd);
	lease->fd = -1;
}

void lease_fini(struct lease *lease)
{
	disconnect(lease);
	lease_init(lease, NULL);
}

/* Answers are not of interest, but the recorder closes those who do not read them. */
static void read_answers(int fd)
{
	char answer[CONTROL_PACKET_MAX];

	while (recv(fd, answer, sizeof(answer), MSG_DONTWAIT) > 0)
		continue;
}

static void ask(struct lease *lease)
{
	const struct control_request request = {
		.command = CONTROL_LEASE, .seconds = LEASED_SECONDS, .hz = CONTROL_LEASE_HZ};
	char packet[CONTROL_PACKET_MAX];
	const size_t size = control_request_print(&request, packet);

	read_answers(lease->fd);
	if (send(lease->fd, packet, size, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)size)
		disconnect(lease);
}

void lease_renew(struct lease *lease)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!lease->image_file || now < lease->due)
		return;
	lease->due = now + RENEWAL;
	if (lease->fd < 0)
		lease->fd = control_socket_connect(lease->image_file);
	if (lease->fd >= 0)
		ask(lease);
}
