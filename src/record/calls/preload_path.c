#include "record/calls/preload_path.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libadaptrace-mpi.so"

static int try(char path[PATH_MAX], const char *folder, const char *below)
{
	if (snprintf(path, PATH_MAX, "%s/%s" LIBRARY, folder, below) >= PATH_MAX)
		return -ENAMETOOLONG;
	return access(path, R_OK) ? -ENOENT : 0;
}

int preload_path(char path[PATH_MAX])
{
	char self[PATH_MAX], *folder;
	ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int err;

	if (size < 0)
		return -errno;
	self[size] = '\0';
	folder = dirname(self);
	err = try(path, folder, "");
	if (err)
		err = try(path, folder, "../lib/adaptrace/");
	if (!err && strpbrk(path, ": \t\n"))
		err = -EINVAL;
	return err;
}
