#include "symbolize/modules/mount_point.h"

#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

static const struct {
	const char *type;
	long magic; /* 0: not needed */
} local[] = {
	{"bcachefs", 0xca451a4e},
	{"btrfs", BTRFS_SUPER_MAGIC},
	{"devtmpfs", 0},
	{"erofs", 0xe0f5e1e2},
	{"ext2", EXT4_SUPER_MAGIC},
	{"ext3", EXT4_SUPER_MAGIC},
	{"ext4", EXT4_SUPER_MAGIC},
	{"f2fs", 0xf2f52010},
	{"hugetlbfs", HUGETLBFS_MAGIC},
	{"iso9660", ISOFS_SUPER_MAGIC},
	{"overlay", OVERLAYFS_SUPER_MAGIC},
	{"proc", PROC_SUPER_MAGIC},
	{"ramfs", RAMFS_MAGIC},
	{"rootfs", RAMFS_MAGIC},
	{"squashfs", SQUASHFS_MAGIC},
	{"sysfs", SYSFS_MAGIC},
	{"tmpfs", TMPFS_MAGIC},
	{"vfat", MSDOS_SUPER_MAGIC},
	{"xfs", 0x58465342},
	{"zfs", 0x2fc12fc1},
};

#define NR_LOCAL (sizeof(local) / sizeof(*local))

bool mount_point_is_local(int fd)
{
	struct statfs fs;
	size_t i = 0;

	if (fstatfs(fd, &fs))
		return false;
	while (i < NR_LOCAL && (!local[i].magic || (unsigned)local[i].magic != (unsigned)fs.f_type))
		i++;
	return i < NR_LOCAL;
}

static bool is_local(const char *type)
{
	size_t i = 0;

	while (i < NR_LOCAL && strcmp(type, local[i].type) != 0)
		i++;
	return i < NR_LOCAL;
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

bool mount_point_holds(const char *folder, const char *path)
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
	bool answers = true;

	while (mounts && getline(&line, &room, mounts) > 0) {
		if (!parse_line(line, &point, &type) || !mount_point_holds(point, path) ||
		    (best && strlen(point) < strlen(best)))
			continue;
		free(best);
		best = strdup(point);
		answers = is_local(type);
	}
	free(line);
	if (mounts)
		fclose(mounts);
	if (!answers)
		return best;
	free(best);
	return NULL;
}
