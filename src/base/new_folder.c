#include "base/new_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An archive has files in its folder and in one below it. */
#define MAX_DEPTH 2

/* --- what is in a folder ---------------------------------------------------------------------- */

enum visit { VISIT_CHECK, VISIT_REMOVE };

struct visitor {
	enum visit visit;
	bool (*known)(const char *path); /* NULL: all */
};

static int visit_entries(const struct visitor *visitor, int fd, const char *path, unsigned depth);

static int open_folder(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int visit_below(const struct visitor *visitor, int parent, const char *name,
                       const char *path, unsigned depth)
{
	int fd = depth < MAX_DEPTH ? open_folder(parent, name) : -EEXIST, err;

	if (fd < 0)
		return fd;
	err = visit_entries(visitor, fd, path, depth + 1);
	close(fd);
	if (!err && visitor->visit == VISIT_REMOVE && unlinkat(parent, name, AT_REMOVEDIR))
		err = -errno;
	return err;
}

static int visit_entry(const struct visitor *visitor, int folder, const char *name,
                       const char *path, unsigned depth)
{
	struct stat stat;

	if (fstatat(folder, name, &stat, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (S_ISDIR(stat.st_mode))
		return visit_below(visitor, folder, name, path, depth);
	if (visitor->known && !(S_ISREG(stat.st_mode) && visitor->known(path)))
		return -EEXIST;
	if (visitor->visit == VISIT_REMOVE)
		return unlinkat(folder, name, 0) ? -errno : 0;
	return 0;
}

/*
 * Checks or removes the entries of an open folder. Fails at once if this process may not write to
 * the folder: its entries could not be removed.
 */
static int visit_entries(const struct visitor *visitor, int fd, const char *path, unsigned depth)
{
	_Alignas(struct dirent64) char entries[4096];
	char below[PATH_MAX];
	ssize_t size;
	int err = faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) ? -errno : 0;

	/*
	 * getdents64() needs no memory. readdir() allocates some: where there is none, the folder
	 * could not be removed.
	 */
	while (!err && (size = getdents64(fd, entries, sizeof(entries)))) {
		if (size < 0)
			return -errno;
		for (ssize_t at = 0; !err && at < size;) {
			const struct dirent64 *entry = (const void *)(entries + at);

			at += entry->d_reclen;
			if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
				continue;
			if (snprintf(below, sizeof(below), "%s%s%s", path, *path ? "/" : "",
			             entry->d_name) >= (int)sizeof(below))
				return -ENAMETOOLONG;
			err = visit_entry(visitor, fd, entry->d_name, below, depth);
		}
	}
	return err;
}

/*
 * Checks or empties an open folder. The descriptor stays valid even if the folder is renamed
 * meanwhile.
 */
static int visit(enum visit what, int fd, bool (*known)(const char *path))
{
	struct visitor visitor = {what, known};

	if (lseek(fd, 0, SEEK_SET))
		return -errno;
	return visit_entries(&visitor, fd, "", 1);
}

/* --- opening ---------------------------------------------------------------------------------- */

/*
 * Opens the existing folder of that name if it may be replaced. *existing is -1 where no folder
 * exists.
 */
static int open_existing(const struct new_folder *folder, int *existing)
{
	struct stat stat;
	int err = file_place_stat(&folder->place, &stat), fd;

	*existing = -1;
	if (err)
		return err == -ENOENT ? 0 : err;
	if (!folder->replace || !S_ISDIR(stat.st_mode))
		return -EEXIST;
	fd = open_folder(folder->place.folder, folder->place.name);
	if (fd < 0)
		return fd;
	err = visit(VISIT_CHECK, fd, folder->known);
	if (err)
		close(fd);
	else
		*existing = fd;
	return err;
}

static int check_existing(const struct new_folder *folder)
{
	int existing, err = open_existing(folder, &existing);

	if (existing >= 0)
		close(existing);
	return err;
}

static void new_folder_fini(struct new_folder *folder)
{
	if (folder->fd >= 0)
		close(folder->fd);
	file_place_close(&folder->place);
	free(folder->temporary);
	*folder = (struct new_folder){.place.folder = -1, .fd = -1};
}

/*
 * The name leads through the descriptor. Without /proc it is one that only somebody who may write
 * to the parent can move.
 */
static int name_temporary(struct new_folder *folder, const char *path)
{
	const char *slash = strrchr(path, '/');
	int before = slash ? (int)(slash - path) + 1 : 0;

	if (asprintf(&folder->temporary, "/proc/self/fd/%d", folder->fd) < 0)
		goto out;
	if (!access(folder->temporary, F_OK))
		return 0;
	free(folder->temporary);
	if (asprintf(&folder->temporary, "%.*s%s", before, path, folder->hidden) >= 0)
		return 0;
out:
	folder->temporary = NULL;
	return -ENOMEM;
}

int new_folder_open(struct new_folder *folder, const char *path, bool replace,
                    bool (*known)(const char *path))
{
	int err;

	*folder = (struct new_folder){.fd = -1, .replace = replace, .known = known};
	err = file_place_open_unfollowed(&folder->place, path);
	if (!err)
		err = check_existing(folder);
	if (!err) {
		folder->fd = file_place_make_folder(folder->place.folder, folder->hidden);
		err = folder->fd < 0 ? folder->fd : name_temporary(folder, path);
	}
	if (err)
		new_folder_fini(folder);
	return err;
}

/* --- its name --------------------------------------------------------------------------------- */

static int rename_hidden(const struct new_folder *folder, unsigned flags)
{
	const int parent = folder->place.folder;

	return renameat2(parent, folder->hidden, parent, folder->place.name, flags) ? -errno : 0;
}

static bool has_name(const struct new_folder *folder, const char *name, int fd)
{
	struct stat named, open;

	return !fstatat(folder->place.folder, name, &named, AT_SYMLINK_NOFOLLOW) &&
	       !fstat(fd, &open) && named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

/*
 * Changes places with the one that is there, and is gone afterwards. Something else that took its
 * name since it was looked at gets the name back.
 */
static int replace_existing(const struct new_folder *folder, int existing)
{
	int err = rename_hidden(folder, RENAME_EXCHANGE);

	if (!err && !has_name(folder, folder->hidden, existing)) {
		rename_hidden(folder, RENAME_EXCHANGE);
		return -EEXIST;
	}
	if (err != -EINVAL && err != -ENOSYS)
		return err;
	err = visit(VISIT_REMOVE, existing, folder->known);
	return err ? err : rename_hidden(folder, 0); /* over an empty one */
}

/* Checks the existing folder again: it may have changed while the new one was filled. */
static int give_name(const struct new_folder *folder, int *existing)
{
	int err = open_existing(folder, existing);

	if (err)
		return err;
	if (*existing >= 0)
		return replace_existing(folder, *existing);
	err = rename_hidden(folder, RENAME_NOREPLACE);
	return err == -EINVAL || err == -ENOSYS ? rename_hidden(folder, 0) : err;
}

/*
 * Removes by their descriptors the new folder, of which nothing became, or the old one, which has
 * made way for it: their names may be another's by now.
 */
int new_folder_close(struct new_folder *folder, int err)
{
	int existing = -1;

	if (!err)
		err = give_name(folder, &existing);
	if (err)
		visit(VISIT_REMOVE, folder->fd, NULL);
	else if (existing >= 0)
		visit(VISIT_REMOVE, existing, folder->known);
	if (err || existing >= 0)
		unlinkat(folder->place.folder, folder->hidden, AT_REMOVEDIR);
	if (existing >= 0)
		close(existing);
	new_folder_fini(folder);
	return err;
}
