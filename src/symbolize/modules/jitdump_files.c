#include "symbolize/modules/jitdump_files.h"
#include "symbolize/modules/files_aside.h"
#include "symbolize/modules/target_folders.h"
#include "symbolize/modules/target_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_FILES (sizeof(((struct jitdump_files *)NULL)->files) / sizeof(struct jitdump_file))

/* ".../jit-17.dump" */
static bool is_jitdump(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t digits;

	if (path[0] != '/' || strncmp(name, "/jit-", 5) != 0)
		return false;
	digits = strspn(name + 5, "0123456789");
	return digits && !strcmp(name + 5 + digits, ".dump");
}

/* Nobody else may name the code of a process, and the mapping says which file it is. */
static bool trusted(int fd, const struct stat *st, const struct module_file *file)
{
	pid_t ns_pid;
	uid_t uid;

	target_owner(file->pid, &uid, &ns_pid);
	if (st->st_uid != uid && st->st_uid != 0)
		return false;
	return !file->ino || target_file_maps_as(fd, st, file->dev, file->ino);
}

int jitdump_open(const struct module_file *file, struct stat *st)
{
	char path[PATH_MAX + 32];
	unsigned method;
	int fd;

	for (method = 0; method < 2; method++) {
		if (method == 0)
			snprintf(path, sizeof(path), "/proc/%d/root%s", file->pid, file->path);
		else
			snprintf(path, sizeof(path), "%s", file->path);
		fd = target_file_open(path, O_NOFOLLOW, st);
		if (fd >= 0 && trusted(fd, st, file))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -ENOENT;
}

void jitdump_files_add(struct jitdump_files *files, const struct module_file *file,
                       struct files_aside *aside)
{
	struct jitdump_file *entry = files->files;
	struct stat st;
	int fd;

	if (!is_jitdump(file->path))
		return;
	fd = aside ? files_aside_jitdump(aside, file, &st) : jitdump_open(file, &st);
	if (fd < 0)
		return;
	while (entry < files->files + files->nr && entry->pid != file->pid)
		entry++;
	if (entry == files->files + MAX_FILES) {
		close(fd);
		return;
	}
	if (entry == files->files + files->nr)
		files->nr++;
	else
		close(entry->fd);
	*entry = (struct jitdump_file){file->pid, fd, st.st_dev, target_file_is_handle(fd)};
}

void jitdump_files_close(struct jitdump_files *files)
{
	while (files->nr)
		close(files->files[--files->nr].fd);
}

const struct jitdump_file *jitdump_files_find(const struct jitdump_files *files, pid_t pid)
{
	unsigned i;

	for (i = 0; i < files->nr; i++)
		if (files->files[i].pid == pid)
			return &files->files[i];
	return NULL;
}
