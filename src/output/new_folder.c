#include "output/new_folder.h"

#include "output/new_file.h"

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

enum visit { VISIT_CHECK, VISIT_REMOVE };

struct visitor {
	enum visit visit;
	bool (*known)(const char *path);
};

static int visit_folder(const struct visitor *visitor, int parent, const char *name,
                        const char *path, unsigned depth);

static int visit_entry(const struct visitor *visitor, int folder, const char *name,
                       const char *path, unsigned depth)
{
	struct stat stat;

	if (fstatat(folder, name, &stat, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (S_ISDIR(stat.st_mode))
		return depth < MAX_DEPTH ? visit_folder(visitor, folder, name, path, depth + 1)
		                         : -EEXIST;
	if (visitor->visit == VISIT_REMOVE)
		return unlinkat(folder, name, 0) ? -errno : 0;
	return S_ISREG(stat.st_mode) && visitor->known(path) ? 0 : -EEXIST;
}

static int visit_entries(const struct visitor *visitor, int fd, const char *path, unsigned depth)
{
	_Alignas(struct dirent64) char entries[4096];
	char below[PATH_MAX];
	ssize_t size;
	int err = 0;

	/* Not readdir(), which asks for memory: of which there may be none, and no folder be left.
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

static int visit_folder(const struct visitor *visitor, int parent, const char *name,
                        const char *path, unsigned depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	/* What cannot be removed is not taken for what may go. */
	err = faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) ? -errno
	                                                  : visit_entries(visitor, fd, path, depth);
	close(fd);
	if (!err && visitor->visit == VISIT_REMOVE && unlinkat(parent, name, AT_REMOVEDIR))
		err = -errno;
	return err;
}

static int visit(enum visit what, const char *path, bool (*known)(const char *path))
{
	struct visitor visitor = {what, known};

	return visit_folder(&visitor, AT_FDCWD, path, "", 1);
}

/* What is there may go: 0; nothing is there: -ENOENT. */
static int check_existing(const struct new_folder *folder)
{
	struct stat stat;

	if (lstat(folder->path, &stat))
		return -errno;
	return folder->replace && S_ISDIR(stat.st_mode)
	               ? visit(VISIT_CHECK, folder->path, folder->known)
	               : -EEXIST;
}

static void new_folder_fini(struct new_folder *folder)
{
	free(folder->path);
	free(folder->temporary);
	*folder = (struct new_folder){0};
}

int new_folder_open(struct new_folder *folder, const char *path, bool replace,
                    bool (*known)(const char *path))
{
	int err;

	*folder = (struct new_folder){.path = strdup(path), .replace = replace, .known = known};
	err = folder->path ? check_existing(folder) : -ENOMEM;
	if (err == -ENOENT)
		err = 0;
	if (!err) {
		folder->temporary = new_file_temporary(path);
		if (!folder->temporary)
			err = -ENOMEM;
		else if (!mkdtemp(folder->temporary))
			err = -errno;
	}
	if (err)
		new_folder_fini(folder);
	return err;
}

/* The old one is checked again: it may have changed while the new one was made. */
static int give_name(const struct new_folder *folder)
{
	int err = check_existing(folder);

	if (err == -ENOENT)
		return renameat2(AT_FDCWD, folder->temporary, AT_FDCWD, folder->path,
		                 RENAME_NOREPLACE) &&
		                       (errno != EINVAL || rename(folder->temporary, folder->path))
		               ? -errno
		               : 0;
	if (err)
		return err;
	if (!renameat2(AT_FDCWD, folder->temporary, AT_FDCWD, folder->path, RENAME_EXCHANGE))
		return 0;
	if (errno != EINVAL)
		return -errno;
	err = visit(VISIT_REMOVE, folder->path, folder->known);
	if (!err && rename(folder->temporary, folder->path))
		err = -errno;
	return err;
}

int new_folder_close(struct new_folder *folder, int err)
{
	if (!err)
		err = give_name(folder);
	/* The new one, of which nothing became; or the old one, which has made way for it. */
	visit(VISIT_REMOVE, folder->temporary, folder->known);
	new_folder_fini(folder);
	return err;
}
