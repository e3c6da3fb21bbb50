#include "output/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DESCRIPTOR_SIZE 32
#define MOST_LINKS      40 /* one behind the other, as the kernel has it */

static void new_file_fini(struct new_file *file)
{
	free(file->path);
	free(file->temporary);
	*file = (struct new_file){0};
}

/* Being in the same folder it is on the same file system. */
char *new_file_temporary(const char *path)
{
	char *copy = strdup(path), *name = NULL;

	if (copy && asprintf(&name, "%s/.adaptrace-XXXXXX", dirname(copy)) < 0)
		name = NULL;
	free(copy);
	return name;
}

/*
 * What is there and cannot be replaced is written to; a folder is an error, as is a link that has
 * come since the name was resolved.
 */
static int open_in_place(const struct new_file *file)
{
	int fd = open(file->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);

	/* What a descriptor of ours stands for has no other name: see follow(). */
	if (fd < 0 && errno == ELOOP && !strncmp(file->path, "/proc/", strlen("/proc/")))
		fd = open(file->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

static void name_descriptor(char text[DESCRIPTOR_SIZE], int fd)
{
	snprintf(text, DESCRIPTOR_SIZE, "/proc/self/fd/%d", fd);
}

int new_file_nameless(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

/* Without /proc it cannot, nor where a filter of system calls forbids it. */
static bool may_have_name(int fd, const char *folder)
{
	char self[DESCRIPTOR_SIZE];

	name_descriptor(self, fd);
	return linkat(AT_FDCWD, self, AT_FDCWD, folder, AT_SYMLINK_FOLLOW) && errno == EEXIST;
}

/* A temporary one, of those that mkostemp() gives: until the true one, it takes a moment. */
static int end_nameless(struct new_file *file)
{
	char self[DESCRIPTOR_SIZE], *end = file->temporary + strlen(file->temporary) - 6;
	unsigned number = (unsigned)getpid();

	name_descriptor(self, fileno(file->file));
	for (unsigned tries = 0; tries < 100; tries++) {
		snprintf(end, 7, "%06u", (number + tries) % 1000000);
		if (!linkat(AT_FDCWD, self, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW)) {
			file->nameless = false;
			return 0;
		}
		if (errno != EEXIST)
			break;
	}
	return -errno;
}

/* To which a name can be given later. */
static int open_nameless(const char *path)
{
	char *copy = strdup(path), *folder = copy ? dirname(copy) : NULL;
	int fd = folder ? new_file_nameless(folder) : -ENOMEM;

	if (fd >= 0 && !may_have_name(fd, folder)) {
		close(fd);
		fd = -ENOSYS;
	}
	free(copy);
	return fd;
}

/* Without a name where that is possible: who is killed then leaves nothing behind. */
static int open_temporary(struct new_file *file)
{
	int fd;

	file->temporary = new_file_temporary(file->path);
	if (!file->temporary)
		return -ENOMEM;
	fd = open_nameless(file->path);
	file->nameless = fd >= 0;
	if (!file->nameless)
		fd = mkostemp(file->temporary, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	fchmod(fd, S_IRUSR | S_IWUSR); /* whatever the umask is */
	return fd;
}

/* Whether what has this name was put there by somebody else, where all may write. */
static bool is_strangers(const char *path, const struct stat *there)
{
	char *copy = there->st_uid == geteuid() ? NULL : strdup(path);
	struct stat folder;
	bool strangers = copy && (stat(dirname(copy), &folder) ||
	                          ((folder.st_mode & S_ISVTX) && (folder.st_mode & S_IWOTH) &&
	                           folder.st_uid != there->st_uid));

	free(copy);
	return strangers;
}

/* Where a link leads, from where we are; NULL with errno. */
static char *link_target(int link, const char *path)
{
	char text[PATH_MAX], *copy, *target = NULL;
	ssize_t size = readlinkat(link, "", text, sizeof(text) - 1);

	if (size < 0)
		return NULL;
	text[size] = '\0';
	copy = strdup(path);
	if (copy && asprintf(&target, "%s%s%s", text[0] == '/' ? "" : dirname(copy),
	                     text[0] == '/' ? "" : "/", text) < 0)
		target = NULL;
	free(copy);
	return target;
}

/*
 * What is looked at is what is followed, by its descriptor, whatever has the name by then. NULL
 * with errno; *path itself: there is nothing to follow.
 */
static char *follow(char *path)
{
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char *target = path;
	struct stat there, behind;

	if (fd < 0)
		return errno == ENOENT ? path : NULL;
	if (fstat(fd, &there)) {
		target = NULL;
	} else if (!S_ISREG(there.st_mode) && is_strangers(path, &there)) {
		errno = EACCES;
		target = NULL;
	} else if (S_ISLNK(there.st_mode)) {
		target = link_target(fd, path);
		/* One of /proc/self/fd leads to what has no such name. */
		if (target && lstat(target, &behind) && !stat(path, &behind)) {
			free(target);
			target = path;
		}
	}
	close(fd);
	return target;
}

char *new_file_resolve(const char *path)
{
	char *now = strdup(path), *next;

	for (unsigned links = 0; now && links < MOST_LINKS; links++) {
		next = follow(now);
		if (next == now)
			return now;
		free(now);
		now = next;
	}
	if (now)
		errno = ELOOP;
	free(now);
	return NULL;
}

bool new_file_is_same(const char *path, const char *other)
{
	struct stat a, b;

	return !stat(path, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int new_file_open(struct new_file *file, const char *path)
{
	struct stat stat_now;
	int fd;

	*file = (struct new_file){.path = new_file_resolve(path)};
	if (!file->path)
		return -errno;
	if (!stat(file->path, &stat_now) && !S_ISREG(stat_now.st_mode))
		fd = open_in_place(file);
	else
		fd = open_temporary(file);
	if (fd >= 0) {
		file->file = fdopen(fd, "w");
		if (file->file)
			return 0;
		close(fd);
		if (file->temporary && !file->nameless)
			unlink(file->temporary);
		fd = -ENOMEM;
	}
	new_file_fini(file);
	return fd;
}

/* There is a file of that name: it becomes the old one, and is never without a name meanwhile. */
static int replace(const struct new_file *file, const char *old)
{
	int err;

	if (!renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->path, RENAME_EXCHANGE)) {
		if (!rename(file->temporary, old))
			return 0;
		err = -errno;
		renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->path, RENAME_EXCHANGE);
		return err;
	}
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (rename(file->path, old))
		return -errno;
	if (!rename(file->temporary, file->path))
		return 0;
	err = -errno;
	rename(old, file->path);
	return err;
}

char *new_file_present_name(const struct new_file *file)
{
	char self[DESCRIPTOR_SIZE];

	name_descriptor(self, fileno(file->file));
	return strdup(file->nameless ? self : file->temporary);
}

static int give_unused_name(const struct new_file *file)
{
	if (!renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->path, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (link(file->temporary, file->path))
		return -errno;
	unlink(file->temporary);
	return 0;
}

static int give_name(const struct new_file *file)
{
	char *old;
	int err;

	if (file->existing == NEW_FILE_REFUSE)
		return give_unused_name(file);
	if (file->existing == NEW_FILE_KEEP_OLD &&
	    !renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->path, RENAME_NOREPLACE))
		return 0;
	if (file->existing == NEW_FILE_REPLACE || (access(file->path, F_OK) && errno == ENOENT))
		return rename(file->temporary, file->path) ? -errno : 0;
	if (asprintf(&old, "%s.old", file->path) < 0)
		return -ENOMEM;
	err = replace(file, old);
	free(old);
	return err;
}

/*
 * What could not be written is still in the stream: trying again tells why. If it succeeds, there
 * was no room before our own scratch files gave theirs back.
 */
int new_file_flush(FILE *file)
{
	errno = 0;
	if (fflush(file))
		return errno ? -errno : -EIO;
	return ferror(file) ? -ENOSPC : 0;
}

int new_file_close(struct new_file *file, int err)
{
	if (!err)
		err = new_file_flush(file->file);
	if (!err && file->nameless)
		err = end_nameless(file);
	if (fclose(file->file) && !err)
		err = -errno;
	if (file->temporary) {
		if (!err)
			err = give_name(file);
		if (err && !file->nameless)
			unlink(file->temporary);
	}
	new_file_fini(file);
	return err;
}
