#include "symbolize/modules/target_folders.h"

#include "base/proc_status.h"
#include "symbolize/modules/files_aside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FOLDERS \
	(sizeof(((struct target_folders *)NULL)->folders) / sizeof(struct target_folder))

void target_owner(pid_t pid, uid_t *uid, pid_t *ns_pid)
{
	char path[64], line[256];
	FILE *status;
	pid_t inner;

	/* Root's recorder must not take somebody's word for the code of an unknown process. */
	*uid = geteuid() ? geteuid() : (uid_t)-1;
	*ns_pid = pid;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status)) {
		if (!strncmp(line, "Uid:", 4))
			sscanf(line, "Uid: %*u %u", uid);
		else if ((inner = proc_status_inner_number(line)))
			*ns_pid = inner;
	}
	if (status)
		fclose(status);
}

static struct target_folder *folder_known(struct target_folders *folders, const struct stat *st)
{
	struct target_folder *folder = folders->folders;

	for (unsigned i = 0; i < folders->nr; i++, folder++)
		if (folder->dev == st->st_dev && folder->ino == st->st_ino)
			return folder;
	return NULL;
}

static struct target_folder *folder_add(struct target_folders *folders, int fd,
                                        const struct stat *st)
{
	struct target_folder *folder = folders->folders + folders->nr;

	if (folders->nr == MAX_FOLDERS)
		return NULL;
	*folder = (struct target_folder){st->st_dev, st->st_ino, fd};
	folders->nr++;
	return folder;
}

int target_folder_open(pid_t pid, struct stat *st)
{
	struct stat ours;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root/tmp", pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, st) && !stat("/tmp", &ours) &&
	    (st->st_dev != ours.st_dev || st->st_ino != ours.st_ino))
		return fd;
	close(fd);
	return -EEXIST;
}

const struct target_folder *target_folder(struct target_folders *folders, pid_t pid,
                                          struct files_aside *aside)
{
	struct target_folder *folder;
	struct stat st = {0};
	int fd = aside ? files_aside_folder(aside, pid, &st) : target_folder_open(pid, &st);

	if (fd < 0)
		return NULL;
	folder = folder_known(folders, &st);
	if (folder) {
		close(fd);
		return folder;
	}
	folder = folder_add(folders, fd, &st);
	if (!folder)
		close(fd);
	return folder;
}

void target_folders_close(struct target_folders *folders)
{
	while (folders->nr)
		close(folders->folders[--folders->nr].fd);
}
