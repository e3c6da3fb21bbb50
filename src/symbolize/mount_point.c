#include "symbolize/mount_point.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool mount_point_is_local(const char *type)
{
	static const char *const types[] = {
		"bcachefs", "btrfs", "devtmpfs",  "erofs",   "ext2",     "ext3",
		"ext4",     "f2fs",  "hugetlbfs", "iso9660", "jfs",      "overlay",
		"proc",     "ramfs", "reiserfs",  "rootfs",  "squashfs", "sysfs",
		"tmpfs",    "udf",   "ufs",       "vfat",    "xfs",      "zfs",
	};

	for (unsigned i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (!strcmp(type, types[i]))
			return true;
	return false;
}

/* Blanks and the like stand as \040. */
static void unescape(char *text)
{
	unsigned code;
	char *to = text;

	for (; *text; text++) {
		if (*text == '\\' && sscanf(text + 1, "%3o", &code) == 1) {
			*to++ = (char)code;
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

static bool lies_below(const char *path, const char *folder)
{
	size_t size = strlen(folder);

	return !strcmp(folder, "/") ||
	       (!strncmp(path, folder, size) && (path[size] == '/' || !path[size]));
}

/* "36 35 98:0 / /mount/point rw,noatime master:1 - ext3 /dev/root rw" */
static bool parse_line(char *line, char **point, char **type)
{
	char *dash = strstr(line, " - "), *rest = line;

	for (int i = 0; i < 5 && rest; i++)
		*point = strsep(&rest, " ");
	if (!dash || !rest || dash < rest - 1)
		return false;
	rest = dash + 3;
	*type = strsep(&rest, " ");
	unescape(*point);
	return true;
}

char *mount_point_foreign(const char *path)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, *point, *type, *best = NULL;
	size_t room = 0;
	bool local = true;

	while (mounts && getline(&line, &room, mounts) > 0) {
		if (!parse_line(line, &point, &type) || !lies_below(path, point) ||
		    (best && strlen(point) < strlen(best)))
			continue;
		free(best);
		best = strdup(point);
		local = mount_point_is_local(type);
	}
	free(line);
	if (mounts)
		fclose(mounts);
	if (!local)
		return best;
	free(best);
	return NULL;
}
