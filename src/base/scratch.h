/* The file without a name where a conversion keeps what is too much for memory. */
#ifndef BASE_SCRATCH_H
#define BASE_SCRATCH_H

#include <stddef.h>
#include <sys/types.h>

/* Room in it, from a place on at which a page begins. */
struct scratch {
	int fd; /* -1: none */
	off_t from;
};

/* In a folder: a descriptor to be closed, which leaves nothing behind, or -errno. */
int scratch_open(const char *folder);

/* Writes all of it to a place. 0 or -errno. */
int scratch_write(int fd, const void *data, size_t size, off_t place);

#endif
