#include "base/file_place.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define MOST_LINKS   40 /* one behind the other, as the kernel has it */
#define MOST_TRIES   100
#define FOLDER_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)

/* --- the folder ------------------------------------------------------------------------------- */

/* With an access control list the bits of the group are the most that any of its users may. */
static bool is_shared(const struct stat *folder)
{
	return (folder->st_uid && folder->st_uid != geteuid()) ||
	       folder->st_mode & (S_IWGRP | S_IWOTH);
}

/* Takes the folder and keeps the last name of the path. */
static int settle_in(struct file_place *place, int folder, const char *path)
{
	char copy[PATH_MAX];
	struct stat stat;

	*place = (struct file_place){.folder = folder};
	if (fstat(folder, &stat))
		return -errno;
	if (!stat.st_nlink) /* deleted; a file without a name could be made in it all the same */
		return -ENOENT;
	snprintf(copy, sizeof(copy), "%s", path);
	place->name = strdup(basename(copy));
	place->shared = is_shared(&stat);
	return place->name ? 0 : -ENOMEM;
}

/* The folder of a path, which begins at another one unless it begins at the root. */
static int open_folder(int from, const char *path)
{
	char copy[PATH_MAX];
	int fd;

	if (snprintf(copy, sizeof(copy), "%s", path) >= (int)sizeof(copy))
		return -ENAMETOOLONG;
	fd = openat(from, dirname(copy), FOLDER_FLAGS);
	return fd < 0 ? -errno : fd;
}

static int open_exact_folder(const char *path)
{
	char copy[PATH_MAX], *left = copy;
	const char *name;
	int fd = open(path[0] == '/' ? "/" : ".", FOLDER_FLAGS), next;

	if (snprintf(copy, sizeof(copy), "%s", path) >= (int)sizeof(copy)) {
		close(fd);
		return -ENAMETOOLONG;
	}
	for (left = dirname(copy); fd >= 0 && (name = strsep(&left, "/"));) {
		if (!*name)
			continue;
		next = openat(fd, name, FOLDER_FLAGS | O_NOFOLLOW);
		close(fd);
		fd = next;
	}
	return fd < 0 ? -errno : fd;
}

/* --- links ------------------------------------------------------------------------------------ */

/* Links in /proc to open descriptors lead to what may have no name, or another by now. */
static bool leads_nowhere_else(const struct file_place *place, const char *target)
{
	struct stat behind, named;
	struct statfs system;

	if (fstatfs(place->folder, &system) || system.f_type != PROC_SUPER_MAGIC)
		return false;
	return fstatat(place->folder, target, &named, AT_SYMLINK_NOFOLLOW) ||
	       fstatat(place->folder, place->name, &behind, 0) || named.st_dev != behind.st_dev ||
	       named.st_ino != behind.st_ino;
}

/* Where the link leads that has the name; 0: it is none, or one that is not to be followed. */
static int read_link(const struct file_place *place, char target[PATH_MAX])
{
	struct stat there;
	ssize_t size;

	if (file_place_stat(place, &there) || !S_ISLNK(there.st_mode))
		return 0;
	if (place->shared)
		return -ELOOP;
	size = readlinkat(place->folder, place->name, target, PATH_MAX - 1);
	if (size <= 0)
		return size ? -errno : -ENOENT;
	target[size] = '\0';
	return leads_nowhere_else(place, target) ? 0 : 1;
}

/* A link that ends in a slash can only lead to a folder. */
static int follow(struct file_place *place, const char *target)
{
	struct file_place next = {.folder = -1};
	int folder =
		target[strlen(target) - 1] == '/' ? -EISDIR : open_folder(place->folder, target);
	int err = folder < 0 ? folder : settle_in(&next, folder, target);

	if (err || !next.name) {
		file_place_close(&next);
		return err ? err : -ENOENT;
	}
	file_place_close(place);
	place->folder = next.folder;
	place->name = next.name;
	place->shared = next.shared;
	return 0;
}

/* --- places ----------------------------------------------------------------------------------- */

/* A path with a slash at its end is a folder's, or nothing's. */
static int check_end(const char *path)
{
	struct stat there;

	if (!*path)
		return -ENOENT;
	if (path[strlen(path) - 1] != '/')
		return 0;
	return stat(path, &there) ? -errno : -EISDIR;
}

static int open_place(struct file_place *place, int folder, const char *path)
{
	int err = folder < 0 ? folder : 0;

	*place = (struct file_place){.folder = -1};
	if (!err)
		err = settle_in(place, folder, path);
	if (err)
		file_place_close(place);
	return err;
}

int file_place_open_unfollowed(struct file_place *place, const char *path)
{
	return open_place(place, open_folder(AT_FDCWD, path), path);
}

int file_place_open_exact(struct file_place *place, const char *path)
{
	return open_place(place, open_exact_folder(path), path);
}

int file_place_open(struct file_place *place, const char *path)
{
	char target[PATH_MAX];
	int err = check_end(path);

	*place = (struct file_place){.folder = -1};
	if (!err)
		err = file_place_open_unfollowed(place, path);
	if (err)
		return err;
	for (unsigned links = 0; !err; links++) {
		err = read_link(place, target);
		if (!err)
			return 0;
		if (err > 0)
			err = links < MOST_LINKS ? follow(place, target) : -EMLINK;
	}
	file_place_close(place);
	return err;
}

void file_place_close(struct file_place *place)
{
	if (place->folder >= 0)
		close(place->folder);
	free(place->name);
	place->folder = -1;
	place->name = NULL;
	place->shared = false;
}

int file_place_stat(const struct file_place *place, struct stat *there)
{
	return fstatat(place->folder, place->name, there, AT_SYMLINK_NOFOLLOW) ? -errno : 0;
}

/* Where users have their own numbers, root's /dev may seem to be somebody else's. */
static bool is_null_device(const struct stat *there)
{
	return S_ISCHR(there->st_mode) && there->st_rdev == makedev(1, 3);
}

int file_place_check(const struct file_place *place, struct stat *there)
{
	int err = file_place_stat(place, there);

	if (err == -ENOENT) {
		*there = (struct stat){0};
		return 0;
	}
	if (err)
		return err;
	if (S_ISDIR(there->st_mode))
		return -EISDIR;
	if (!place->shared || S_ISREG(there->st_mode) || is_null_device(there))
		return 0;
	return S_ISLNK(there->st_mode) ? -ELOOP : -ENXIO;
}

int file_place_path(const struct file_place *place, char *path, size_t size)
{
	char self[32];
	ssize_t used;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", place->folder);
	used = readlink(self, path, size - 1);
	if (used < 0)
		return -errno;
	path[used] = '\0';
	if (used && path[used - 1] == '/')
		used--;
	return snprintf(path + used, size - (size_t)used, "/%s", place->name) >=
	                       (int)(size - (size_t)used)
	               ? -ENAMETOOLONG
	               : 0;
}

/* --- new names -------------------------------------------------------------------------------- */

void file_place_hidden_name(char name[FILE_PLACE_HIDDEN_SIZE])
{
	struct timespec now;
	uint64_t number;

	/* Early at boot, or filtered: a name that can be guessed is in the way, no more. */
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number)) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		number = (uint64_t)now.tv_nsec << 32 | (uint32_t)getpid();
	}
	snprintf(name, FILE_PLACE_HIDDEN_SIZE, ".adaptrace-%016llx", (unsigned long long)number);
}

/* It may have been moved away meanwhile, and another put in its place. */
static int open_own(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err = 0;
	struct stat stat;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &stat))
		err = -errno;
	else if (stat.st_uid != geteuid() || stat.st_mode & (S_IRWXG | S_IRWXO))
		err = -EACCES;
	if (!err)
		return fd;
	close(fd);
	return err;
}

int file_place_make_folder(int parent, char name[FILE_PLACE_HIDDEN_SIZE])
{
	for (unsigned tries = 0; tries < MOST_TRIES; tries++) {
		file_place_hidden_name(name);
		if (!mkdirat(parent, name, S_IRWXU))
			return open_own(parent, name);
		if (errno != EEXIST)
			break;
	}
	return -errno;
}
