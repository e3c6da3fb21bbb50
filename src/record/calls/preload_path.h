/* Where the library that runs inside targets lies. */
#ifndef RECORD_CALLS_PRELOAD_PATH_H
#define RECORD_CALLS_PRELOAD_PATH_H

#include <limits.h>

/*
 * Beside the executable, or in ../lib/adaptrace from there. 0; -ENOENT: it is not there; -EINVAL:
 * its path has a character at which LD_PRELOAD would be cut.
 */
int preload_path(char path[PATH_MAX]);

#endif
