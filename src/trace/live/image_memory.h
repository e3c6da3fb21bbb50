/*
 * The memory of an image that /dev/shm has no room for (shm_image.h): its recorder hands it out at
 * the control socket.
 */
#ifndef TRACE_LIVE_IMAGE_MEMORY_H
#define TRACE_LIVE_IMAGE_MEMORY_H

#include <fcntl.h>

/* Whoever maps the memory relies on its size. */
#define IMAGE_MEMORY_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/*
 * Connects to the control socket of a recorder at work; waits up to a second for one that has just
 * begun. Returns a descriptor or -errno, see control_socket_connect().
 */
int image_connect(const char *image_file);

/*
 * Asks the recorder for the memory. stub: the open stub, whose owner the memory must have. Returns
 * a descriptor of a memory file whose size cannot change, or -errno: -EBADMSG: what came is
 * something else, -ENOENT: the recorder has ended.
 */
int image_memory_fetch(const char *image_file, int stub);

/* Opens the memory of a recorder at work, wherever it is. A descriptor, -ENOENT, -errno. */
int image_memory_open(const char *image_file);

#endif
