/*
 * A folder that appears under its name only when it is complete. An existing folder of that name is
 * replaced only if the caller allows it and the caller knows every file in it.
 * Links are not followed.
 */
#ifndef BASE_NEW_FOLDER_H
#define BASE_NEW_FOLDER_H

#include "base/file_place.h"

#include <stdbool.h>

struct new_folder {
	struct file_place place;
	char hidden[FILE_PLACE_HIDDEN_SIZE]; /* its name until it is complete */
	int fd;
	char *temporary; /* a path to the folder that stays valid when the folder gets its name */
	/* Whether a file, given by its path relative to the folder, may be removed. */
	bool (*known)(const char *path);
	bool replace;
};

/*
 * Opens a new folder. Returns 0 or -errno: -EEXIST if something exists that must not be replaced.
 */
int new_folder_open(struct new_folder *folder, const char *path, bool replace,
                    bool (*known)(const char *path));
/* Gives the folder its name. After an error, removes it instead. */
int new_folder_close(struct new_folder *folder, int err);

#endif
