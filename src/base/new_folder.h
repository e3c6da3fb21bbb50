/*
 * A folder that appears under its name only when it is whole. A folder that has the name already is
 * replaced only where allowed, and only if nothing is in it that its maker does not know. Links are
 * not followed.
 */
#ifndef BASE_NEW_FOLDER_H
#define BASE_NEW_FOLDER_H

#include "base/file_place.h"

#include <stdbool.h>

struct new_folder {
	struct file_place place;
	char hidden[FILE_PLACE_HIDDEN_SIZE]; /* its name until it is whole */
	int fd;
	char *temporary; /* the path to fill it by, which leads to it whatever its name is */
	/* Whether a file, told by its path from the folder, is one that may be removed. */
	bool (*known)(const char *path);
	bool replace;
};

/* 0 or -errno: -EEXIST where there is something that must not go. temporary may then be filled. */
int new_folder_open(struct new_folder *folder, const char *path, bool replace,
                    bool (*known)(const char *path));
/* Gives the folder its name; or, after an error, removes it. */
int new_folder_close(struct new_folder *folder, int err);

#endif
