/*
 * dead_fs MOUNTPOINT FOLDER STOP: shows the files of a folder, and answers no request of a kind any
 * more while a file STOP/KIND exists: getattr, open, read or flush.
 */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *folder, *stop;

static void wait_while_stopped(const char *kind)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", stop, kind);
	while (!access(path, F_OK))
		usleep(10000);
}

static const char *real_path(const char *path, char real[4096])
{
	snprintf(real, 4096, "%s%s", folder, path);
	return real;
}

static int on_getattr(const char *path, struct stat *st, struct fuse_file_info *info)
{
	char real[4096];

	(void)info;
	wait_while_stopped("getattr");
	return lstat(real_path(path, real), st) ? -errno : 0;
}

static int on_open(const char *path, struct fuse_file_info *info)
{
	char real[4096];
	int fd;

	wait_while_stopped("open");
	fd = open(real_path(path, real), O_RDONLY);
	info->direct_io = 1; /* or pages that the program used would answer */
	info->fh = (unsigned long)fd;
	return fd < 0 ? -errno : 0;
}

static int on_read(const char *path, char *to, size_t size, off_t offset,
                   struct fuse_file_info *info)
{
	ssize_t got;

	(void)path;
	wait_while_stopped("read");
	got = pread((int)info->fh, to, size, offset);
	return got < 0 ? -errno : (int)got;
}

static int on_flush(const char *path, struct fuse_file_info *info)
{
	(void)path;
	(void)info;
	wait_while_stopped("flush");
	return 0;
}

static int on_release(const char *path, struct fuse_file_info *info)
{
	(void)path;
	return close((int)info->fh);
}

int main(int argc, char **argv)
{
	static const struct fuse_operations operations = {
		.getattr = on_getattr,
		.open = on_open,
		.read = on_read,
		.flush = on_flush,
		.release = on_release,
	};
	char *arguments[] = {argv[0], argv[1], "-f", "-o", "attr_timeout=0,entry_timeout=0", NULL};

	if (argc != 4)
		return 2;
	folder = argv[2];
	stop = argv[3];
	return fuse_main(5, arguments, &operations, NULL);
}
