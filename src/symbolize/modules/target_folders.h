/* Processes that make code at run time: who may name that code, and in which /tmp. */
#ifndef SYMBOLIZE_MODULES_TARGET_FOLDERS_H
#define SYMBOLIZE_MODULES_TARGET_FOLDERS_H

#include <sys/stat.h>
#include <sys/types.h>

struct files_aside;

/*
 * Finds the user who may name the code of a process, and the process's number in the name of its
 * map, which is its PID in its own container. For a process that has ended, uid is the recorder's
 * user, or -1 if that is root.
 */
void target_owner(pid_t pid, uid_t *uid, pid_t *ns_pid);

/*
 * The /tmp folders of containers. A folder is opened when the first code of a process there is met,
 * because the container may be gone later. At most 64 are kept.
 */
struct target_folders {
	struct target_folder {
		dev_t dev;
		ino_t ino;
		int fd;
	} folders[64];
	unsigned nr;
};

/* Opens the /tmp of a process unless it is the recorder's own. Returns a path handle or -errno. */
int target_folder_open(pid_t pid, struct stat *st);

/*
 * Returns the /tmp of a process. NULL means that it is the recorder's own or cannot be opened. The
 * result is valid until the folders are closed. aside opens it, unless it is NULL.
 */
const struct target_folder *target_folder(struct target_folders *folders, pid_t pid,
                                          struct files_aside *aside);
void target_folders_close(struct target_folders *folders);

#endif
