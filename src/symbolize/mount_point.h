/* Which file system a path leads to, told without touching it. */
#ifndef SYMBOLIZE_MOUNT_POINT_H
#define SYMBOLIZE_MOUNT_POINT_H

#include <stdbool.h>

/* Whether file systems of this type are in memory or on a disk, and so answer. */
bool mount_point_is_local(const char *type);

/*
 * The mount point below which the path lies, where another machine or a process may have to answer;
 * free it. NULL: none such. Symbolic links are not followed.
 */
char *mount_point_foreign(const char *path);

#endif
