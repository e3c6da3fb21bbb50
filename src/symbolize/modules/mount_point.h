/* Which file system a path leads to, told without touching it. */
#ifndef SYMBOLIZE_MODULES_MOUNT_POINT_H
#define SYMBOLIZE_MODULES_MOUNT_POINT_H

#include <stdbool.h>

/* Whether an open file is on a file system in memory or on a disk, which answers. */
bool mount_point_is_local(int fd);

/* Whether the path is that of the folder or lies below it. */
bool mount_point_holds(const char *folder, const char *path);

/*
 * The mount point below which the path lies, where another machine or a process may have to answer;
 * free it. NULL: none such. Symbolic links are not followed.
 */
char *mount_point_foreign(const char *path);

#endif
