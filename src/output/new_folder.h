/*
 * A folder that appears under its name only when it is whole. A folder that has the name already is
 * replaced only where allowed, and only if nothing is in it that its maker does not know.
 */
#ifndef OUTPUT_NEW_FOLDER_H
#define OUTPUT_NEW_FOLDER_H

#include <stdbool.h>

struct new_folder {
	char *path, *temporary;
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
