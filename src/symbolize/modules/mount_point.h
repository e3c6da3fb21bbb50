/* Mount points: find the file system that a path leads to, without accessing it. */
#ifndef SYMBOLIZE_MODULES_MOUNT_POINT_H
#define SYMBOLIZE_MODULES_MOUNT_POINT_H

#include <stdbool.h>

/* Tells whether an open file is in memory or on a local disk, so that reading it cannot hang. */
bool mount_point_is_local(int fd);

/* Whether the path is that of the folder or lies below it. */
bool mount_point_holds(const char *folder, const char *path);

/*
 * Returns the mount point of the path if another machine or a process serves it, else NULL; free
 * it. Symbolic links are not followed.
 */
char *mount_point_foreign(const char *path);

#endif
