#include "base/scratch.h"
#include "base/new_file.h"

#include <errno.h>
#include <unistd.h>

int scratch_open(const char *folder)
{
	return new_file_nameless(folder);
}

int scratch_write(int fd, const void *data, size_t size, off_t place)
{
	const char *at = data;

	while (size) {
		ssize_t written = pwrite(fd, at, size, place);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written ? -errno : -ENOSPC;
		at += written;
		place += written;
		size -= (size_t)written;
	}
	return 0;
}
