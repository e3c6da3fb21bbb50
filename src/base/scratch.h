/* An unnamed file in which a conversion keeps data that does not fit in memory. */
#ifndef BASE_SCRATCH_H
#define BASE_SCRATCH_H

#include <stddef.h>
#include <sys/types.h>

/* A region of the file. It starts at a page boundary. */
struct scratch {
	int fd; /* -1: none */
	off_t from;
};

/*
 * Opens a scratch file in a folder. Returns a descriptor, which the caller closes, or -errno. The
 * file disappears when it is closed.
 */
int scratch_open(const char *folder);

/* Writes size bytes at an offset of the file. Returns 0 or -errno. */
int scratch_write(int fd, const void *data, size_t size, off_t place);

#endif
