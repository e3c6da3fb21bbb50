/*
 * The socket through which a recorder takes commands: a file beside its image, named as the image
 * with ".ctl" behind it, mode 0600. Whoever connects and whoever listens must be the owner of the
 * image or root.
 */
#ifndef TRACE_LIVE_CONTROL_SOCKET_H
#define TRACE_LIVE_CONTROL_SOCKET_H

#include <stdbool.h>
#include <sys/socket.h>

#define CONTROL_SUFFIX ".ctl"

/*
 * Listens at the socket of this image, whose lock the caller holds: a socket that exists was left
 * by a dead recorder and is replaced. The descriptor does not block. Returns it or -errno.
 */
int control_socket_listen(const char *image_file);
/* Removes the socket's name. */
void control_socket_remove(const char *image_file);

/*
 * Connects to the recorder of an image. Sending and receiving have a time limit. Returns a
 * descriptor or -errno: -EACCES: the socket or its listener is another user's.
 */
int control_socket_connect(const char *image_file);

/*
 * The credentials of the peer. Returns whether it is this process's user or root. A connected peer
 * keeps the credentials that it had.
 */
bool control_socket_peer(int fd, struct ucred *peer);

#endif
