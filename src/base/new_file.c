#include "base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DESCRIPTOR_SIZE 32
#define MOST_TRIES      100
#define OLD             ".old"
#define BESIDE          ".new"

static void name_descriptor(char text[DESCRIPTOR_SIZE], int fd)
{
	snprintf(text, DESCRIPTOR_SIZE, "/proc/self/fd/%d", fd);
}

/* --- a file without a name, or a hidden one --------------------------------------------------- */

static int open_nameless(int folder)
{
	int fd = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);

	return fd < 0 ? -errno : fd;
}

/* Without /proc it cannot, nor where a filter of system calls forbids it. */
static bool may_have_name(int fd, int folder)
{
	char self[DESCRIPTOR_SIZE];

	name_descriptor(self, fd);
	return linkat(AT_FDCWD, self, folder, ".", AT_SYMLINK_FOLLOW) && errno == EEXIST;
}

static int open_hidden(int folder, char name[FILE_PLACE_HIDDEN_SIZE])
{
	int fd = -1;

	for (unsigned tries = 0; fd < 0 && tries < MOST_TRIES; tries++) {
		file_place_hidden_name(name);
		fd = openat(folder, name, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC,
		            S_IRUSR | S_IWUSR);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd < 0 ? -errno : fd;
}

/* Without a name where that is possible: who is killed then leaves nothing behind. */
static int open_temporary(struct new_file *file)
{
	int folder = file->place.folder, fd = open_nameless(folder);

	file->nameless = fd >= 0 && may_have_name(fd, folder);
	if (fd >= 0 && !file->nameless)
		close(fd);
	if (!file->nameless)
		fd = open_hidden(folder, file->temporary);
	if (fd >= 0)
		fchmod(fd, S_IRUSR | S_IWUSR); /* whatever the umask is */
	return fd;
}

/* Gives a nameless file a hidden name: until it gets the true one, a moment later. */
static int end_nameless(struct new_file *file)
{
	char self[DESCRIPTOR_SIZE];

	name_descriptor(self, fileno(file->file));
	for (unsigned tries = 0; tries < MOST_TRIES; tries++) {
		file_place_hidden_name(file->temporary);
		if (!linkat(AT_FDCWD, self, file->place.folder, file->temporary,
		            AT_SYMLINK_FOLLOW)) {
			file->nameless = false;
			return 0;
		}
		if (errno != EEXIST)
			break;
	}
	return -errno;
}

int new_file_nameless(const char *folder)
{
	int parent = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;
	char name[FILE_PLACE_HIDDEN_SIZE];

	if (parent < 0)
		return -errno;
	fd = open_nameless(parent);
	if (fd < 0) {
		fd = open_hidden(parent, name);
		if (fd >= 0)
			unlinkat(parent, name, 0);
	}
	close(parent);
	return fd;
}

/* --- opening ---------------------------------------------------------------------------------- */

/*
 * Links other than those to open descriptors were followed already. After long work nobody may be
 * there to read a pipe, or to let a terminal go on: that is then an error.
 */
static int open_in_place(const struct file_place *place, const struct stat *there, bool settled)
{
	int fd = openat(place->folder, place->name,
	                O_WRONLY | O_CLOEXEC | O_NOCTTY | (settled ? O_NONBLOCK : 0) |
	                        (S_ISLNK(there->st_mode) ? 0 : O_NOFOLLOW));

	return fd < 0 ? -errno : fd;
}

/* 0: there is a file, or nothing; 1: what is there is to be written to as it is. */
static int judge(const struct new_file *file, struct stat *there)
{
	int err = file_place_check(&file->place, there);

	if (err || !there->st_mode || S_ISREG(there->st_mode))
		return err;
	if (file->wish.settled && !S_ISCHR(there->st_mode))
		return S_ISLNK(there->st_mode) ? -ELOOP : -ENXIO;
	return 1;
}

static int open_place(struct new_file *file)
{
	struct stat there;
	int way = judge(file, &there);

	if (way > 0)
		return open_in_place(&file->place, &there, file->wish.settled);
	file->displaced = way < 0 && file->wish.beside;
	return way < 0 && !file->displaced ? way : open_temporary(file);
}

bool new_file_has_temporary(const struct new_file *file)
{
	return file->nameless || *file->temporary;
}

static void new_file_fini(struct new_file *file)
{
	file_place_close(&file->place);
	*file = (struct new_file){.place.folder = -1};
}

int new_file_open_as(struct new_file *file, const struct new_file_wish *wish)
{
	int fd;

	*file = (struct new_file){.wish = *wish};
	if (wish->beside)
		*wish->beside = NULL;
	fd = wish->settled ? file_place_open_exact(&file->place, wish->path)
	                   : file_place_open(&file->place, wish->path);
	if (!fd)
		fd = open_place(file);
	if (fd >= 0) {
		file->file = fdopen(fd, "w");
		if (file->file)
			return 0;
		close(fd);
		if (*file->temporary)
			unlinkat(file->place.folder, file->temporary, 0);
		fd = -ENOMEM;
	}
	new_file_fini(file);
	return fd;
}

int new_file_open(struct new_file *file, const char *path)
{
	return new_file_open_as(file, &(struct new_file_wish){.path = path});
}

char *new_file_present_name(const struct new_file *file)
{
	char path[PATH_MAX];

	name_descriptor(path, fileno(file->file));
	if (!new_file_has_temporary(file))
		return NULL;
	if (!file->nameless) {
		const struct file_place hidden = {file->place.folder, (char *)file->temporary,
		                                  false};

		if (file_place_path(&hidden, path, sizeof(path)))
			return NULL;
	}
	return strdup(path);
}

bool new_file_is_same(const char *path, const char *other)
{
	struct stat a, b;

	return !stat(path, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* --- its name --------------------------------------------------------------------------------- */

/*
 * Renames the existing file to its old name and gives the new file its name. Where the file system
 * can exchange names, the name exists at every moment.
 */
static int replace(const struct new_file *file, const char *old)
{
	const int folder = file->place.folder;
	const char *name = file->place.name;
	int err;

	if (!renameat2(folder, file->temporary, folder, name, RENAME_EXCHANGE)) {
		if (!renameat(folder, file->temporary, folder, old))
			return 0;
		err = -errno;
		renameat2(folder, file->temporary, folder, name, RENAME_EXCHANGE);
		return err;
	}
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (renameat(folder, name, folder, old))
		return -errno;
	if (!renameat(folder, file->temporary, folder, name))
		return 0;
	err = -errno;
	renameat(folder, old, folder, name);
	return err;
}

static int give_unused_name(const struct new_file *file, const char *name)
{
	const int folder = file->place.folder;

	if (!renameat2(folder, file->temporary, folder, name, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (!linkat(folder, file->temporary, folder, name, 0)) {
		unlinkat(folder, file->temporary, 0);
		return 0;
	}
	if (errno == EEXIST)
		return -EEXIST;
	/* No links either: what gets the name in this moment is replaced, but not written to. */
	if (!faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	return renameat(folder, file->temporary, folder, name) ? -errno : 0;
}

/*
 * Gives the file its name. A file of that name that was made while this one was written is checked
 * and handled like one that existed at the start.
 */
static int give_name(const struct new_file *file)
{
	const char *name = file->place.name;
	const enum new_file_existing existing = file->wish.existing;
	int err = give_unused_name(file, name);
	struct stat there;
	char *old;

	if (err != -EEXIST || existing == NEW_FILE_REFUSE || existing == NEW_FILE_BESIDE)
		return err;
	err = judge(file, &there);
	if (err)
		return err < 0 ? err : -ENXIO;
	if (existing == NEW_FILE_REPLACE)
		return renameat(file->place.folder, file->temporary, file->place.folder, name)
		               ? -errno
		               : 0;
	if (asprintf(&old, "%s" OLD, name) < 0)
		return -ENOMEM;
	err = replace(file, old);
	free(old);
	return err;
}

static int give_name_beside(struct new_file *file)
{
	char name[NAME_MAX + 1], path[PATH_MAX], hidden[FILE_PLACE_HIDDEN_SIZE] = "";
	struct file_place beside = {file->place.folder, name, false};
	int err = -EEXIST;

	for (unsigned tries = 0; err == -EEXIST && tries < MOST_TRIES; tries++) {
		if (snprintf(name, sizeof(name), "%s" BESIDE "%s", file->place.name, hidden) >=
		    (int)sizeof(name))
			return -ENAMETOOLONG;
		err = give_unused_name(file, name);
		file_place_hidden_name(hidden);
	}
	if (err)
		return err;
	if (file_place_path(&beside, path, sizeof(path)))
		snprintf(path, sizeof(path), "%s", name);
	*file->wish.beside = strdup(path);
	return 0;
}

/*
 * After a failed write the data is still in the stream: trying again yields the errno. If it
 * succeeds, there was no space earlier, before this process freed its own scratch files.
 */
int new_file_flush(FILE *file)
{
	errno = 0;
	if (fflush(file))
		return errno ? -errno : -EIO;
	return ferror(file) ? -ENOSPC : 0;
}

static int end_temporary(struct new_file *file)
{
	int err = file->displaced ? -EEXIST : give_name(file);

	return err && file->wish.beside ? give_name_beside(file) : err;
}

int new_file_close(struct new_file *file, int err)
{
	if (!err)
		err = new_file_flush(file->file);
	if (!err && file->nameless)
		err = end_nameless(file);
	if (fclose(file->file) && !err)
		err = -errno;
	if (*file->temporary) {
		if (!err)
			err = end_temporary(file);
		if (err)
			unlinkat(file->place.folder, file->temporary, 0);
	}
	new_file_fini(file);
	return err;
}

/* --- before long work ------------------------------------------------------------------------- */

/* In a sticky folder only the owner of a file, or of the folder, may rename it. */
static bool is_fixed(const struct file_place *place, const struct stat *there)
{
	struct stat folder;

	return geteuid() && there->st_uid != geteuid() && !fstat(place->folder, &folder) &&
	       folder.st_mode & S_ISVTX && folder.st_uid != geteuid();
}

/* Checks that the existing file can be renamed to its longer old name. */
static int check_old(const struct file_place *place)
{
	struct file_place old = {place->folder, NULL, place->shared};
	struct stat there;
	int err;

	if (asprintf(&old.name, "%s" OLD, place->name) < 0)
		return -ENOMEM;
	err = file_place_stat(&old, &there);
	free(old.name);
	if (err)
		return err == -ENOENT ? 0 : err;
	if (S_ISDIR(there.st_mode))
		return -ENOTEMPTY;
	return is_fixed(place, &there) ? -EPERM : 0;
}

static int check_place(const struct file_place *place)
{
	struct stat there;
	int err = file_place_check(place, &there);

	if (err || !there.st_mode || S_ISCHR(there.st_mode))
		return err;
	if (!S_ISREG(there.st_mode))
		return -ENXIO;
	return is_fixed(place, &there) ? -EPERM : check_old(place);
}

/* Rights do not tell whether a file can be made: root has them in /sys. */
static int try_settled(const char *path)
{
	const struct new_file_wish wish = {.path = path, .settled = true};
	struct new_file file;
	int err = new_file_open_as(&file, &wish);

	if (!err)
		new_file_close(&file, -ECANCELED);
	return err;
}

/* Below a folder that is closed to us the path as it was given may do. */
static int settle(const struct file_place *place, const char *path, char *settled, size_t size)
{
	int err = file_place_path(place, settled, size);

	if (!err)
		err = try_settled(settled);
	if (err != -EACCES)
		return err;
	if (snprintf(settled, size, "%s", path) >= (int)size)
		return -ENAMETOOLONG;
	return try_settled(settled);
}

int new_file_settle(const char *path, char *settled, size_t size)
{
	struct file_place place;
	int err = file_place_open(&place, path);

	if (err)
		return err;
	err = check_place(&place);
	if (!err)
		err = settle(&place, path, settled, size);
	file_place_close(&place);
	return err;
}

int new_file_check(const char *path)
{
	struct file_place place;
	struct stat there;
	int err = file_place_open(&place, path);

	if (err)
		return err;
	err = file_place_check(&place, &there);
	file_place_close(&place);
	return err;
}

const char *new_file_error(int err)
{
	switch (err) {
	case -ELOOP:
		return "it is a link, in a folder that other users can write to";
	case -ENXIO:
		return "it is a pipe, a device or a socket, not a file";
	case -ENOTEMPTY:
		return "the old file cannot be kept, for a folder has the name with " OLD;
	default:
		return strerror(-err);
	}
}
