#include "trace/live/image_memory.h"

#include "trace/live/control_packet.h"
#include "trace/live/control_socket.h"
#include "trace/live/shm_image.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
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

int image_connect(const char *image_file)
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

/* Whether the size of the file cannot change, and it is of the stub's owner. */
static bool is_fit(int fd, int stub)
{
	struct stat memory, named;
	const int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & IMAGE_MEMORY_SEALS) == IMAGE_MEMORY_SEALS &&
	       !fstat(fd, &memory) && !fstat(stub, &named) && S_ISREG(memory.st_mode) &&
	       memory.st_uid == named.st_uid && memory.st_size > SHM_IMAGE_STUB;
}

static int ask(int socket)
{
	const struct control_request request = {.command = CONTROL_IMAGE};
	char packet[CONTROL_PACKET_MAX];
	const size_t size = control_request_print(&request, packet);

	return send(socket, packet, size, MSG_NOSIGNAL) == (ssize_t)size ? 0 : -ENOENT;
}

/* There is room for one descriptor, and none behind it: the kernel closes any others. */
static int receive(int socket)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	char packet[CONTROL_PACKET_MAX];
	struct iovec part = {packet, sizeof(packet)};
	struct msghdr message = {.msg_iov = &part,
	                         .msg_iovlen = 1,
	                         .msg_control = &control,
	                         .msg_controllen = CMSG_LEN(sizeof(int))};
	ssize_t size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *passed = size > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	int fd;

	if (size <= 0)
		return size < 0 && errno == EAGAIN ? -EAGAIN : -ENOENT;
	if (!passed || passed->cmsg_level != SOL_SOCKET || passed->cmsg_type != SCM_RIGHTS ||
	    passed->cmsg_len != CMSG_LEN(sizeof(fd)))
		return -EBADMSG;
	memcpy(&fd, CMSG_DATA(passed), sizeof(fd));
	return fd;
}

int image_memory_fetch(const char *image_file, int stub)
{
	int socket = image_connect(image_file), fd;

	if (socket < 0)
		return socket;
	fd = ask(socket);
	if (!fd)
		fd = receive(socket);
	close(socket);
	if (fd < 0 || is_fit(fd, stub))
		return fd;
	close(fd);
	return -EBADMSG;
}

int image_memory_open(const char *image_file)
{
	enum shm_image_holder holder;
	int fd = shm_image_peek(image_file, &holder), memory;

	if (fd < 0)
		return fd;
	memory = holder != SHM_IMAGE_RECORDER ? -ENOENT : fd;
	if (memory == fd && shm_image_is_stub(fd))
		memory = image_memory_fetch(image_file, fd);
	if (memory != fd)
		close(fd);
	return memory;
}
