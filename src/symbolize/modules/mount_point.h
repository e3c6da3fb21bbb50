/*
 * File systems on the way to a file: which of them another machine or a process serves, so that
 * they may stop answering.
 */
#ifndef SYMBOLIZE_MODULES_MOUNT_POINT_H
#define SYMBOLIZE_MODULES_MOUNT_POINT_H

#include <stdbool.h>
#include <sys/types.h>

#define MOUNTS_MAX 8

/* File systems, by their devices. */
struct mounts {
	dev_t devs[MOUNTS_MAX];
	unsigned nr;
};

/* Adds one if it is not there and there is room. */
void mounts_add(struct mounts *mounts, dev_t dev);
bool mounts_hold(const struct mounts *mounts, dev_t dev);
bool mounts_meet(const struct mounts *a, const struct mounts *b);

/*
 * Adds the file systems on the way to an absolute path that another machine or a process serves,
 * without accessing them, and those that hold layers of an overlay on the way. The path is that in
 * the mount namespace of process pid, or in our own if pid is 0. Symbolic links are followed as far
 * as they lie on local file systems. Adds nothing if the process has ended.
 */
void mounts_on_way(struct mounts *mounts, pid_t pid, const char *path);

/*
 * Tells whether reading an open file, or finding its path in either namespace, may have to wait for
 * another machine or a process. May block for the same reason.
 */
bool mount_point_is_foreign(int fd, pid_t pid, const char *path);

#endif
