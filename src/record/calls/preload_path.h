/* Finds the library that runs inside targets. */
#ifndef RECORD_CALLS_PRELOAD_PATH_H
#define RECORD_CALLS_PRELOAD_PATH_H

#include <limits.h>

/*
 * Looks beside the executable and in ../lib/adaptrace from there. Returns 0; -ENOENT if it is not
 * there; -EINVAL if its path has a character at which LD_PRELOAD would be cut.
 */
int preload_path(char path[PATH_MAX]);

#endif
