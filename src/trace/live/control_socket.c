#include "trace/live/control_socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG      16
#define PATIENCE_SEC 10

static int address_of(const char *image_file, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	return snprintf(address->sun_path, sizeof(address->sun_path), "%s" CONTROL_SUFFIX,
	                image_file) < (int)sizeof(address->sun_path)
	               ? 0
	               : -ENAMETOOLONG;
}

/* Returns whether the name is a socket of this user, or for root of anybody. */
static bool is_own_socket(const char *path)
{
	struct stat stat;

	return !lstat(path, &stat) && S_ISSOCK(stat.st_mode) && !(stat.st_mode & 077) &&
	       (stat.st_uid == geteuid() || !geteuid());
}

/* The mode is set before the socket has a name. A umask may have removed some of it. */
static int bind_private(int fd, const struct sockaddr_un *address)
{
	if (fchmod(fd, S_IRUSR | S_IWUSR) ||
	    bind(fd, (const struct sockaddr *)address, sizeof(*address)))
		return -errno;
	return chmod(address->sun_path, S_IRUSR | S_IWUSR) ? -errno : 0;
}

int control_socket_listen(const char *image_file)
{
	struct sockaddr_un address;
	int fd, err = address_of(image_file, &address);

	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	err = bind_private(fd, &address);
	if (err == -EADDRINUSE && is_own_socket(address.sun_path) && !unlink(address.sun_path))
		err = bind_private(fd, &address);
	if (!err && listen(fd, BACKLOG))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

void control_socket_remove(const char *image_file)
{
	struct sockaddr_un address;

	if (!address_of(image_file, &address) && is_own_socket(address.sun_path))
		unlink(address.sun_path);
}

static int connect_to(int fd, const struct sockaddr_un *address)
{
	const struct timeval patience = {.tv_sec = PATIENCE_SEC};

	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) ||
	    connect(fd, (const struct sockaddr *)address, sizeof(*address)))
		return -errno;
	return 0;
}

/* The listener must own the socket's file. Root may steer recorders of others. */
static bool is_expected(int fd, const char *path)
{
	struct ucred peer;
	struct stat stat;

	if (control_socket_peer(fd, &peer))
		return true;
	return !geteuid() && !lstat(path, &stat) && stat.st_uid == peer.uid;
}

int control_socket_connect(const char *image_file)
{
	struct sockaddr_un address;
	int fd, err = address_of(image_file, &address);

	if (err)
		return err;
	if (!is_own_socket(address.sun_path))
		return access(address.sun_path, F_OK) && errno == ENOENT ? -ENOENT : -EACCES;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	err = connect_to(fd, &address);
	if (!err && !is_expected(fd, address.sun_path))
		err = -EACCES;
	if (!err)
		return fd;
	close(fd);
	return err;
}

bool control_socket_peer(int fd, struct ucred *peer)
{
	socklen_t size = sizeof(*peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &size) &&
	       (peer->uid == geteuid() || !peer->uid);
}
