#include "symbolize/modules/mount_point.h"

#include "base/array.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

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

#define NR_LOCAL  (sizeof(local) / sizeof(*local))
#define MAX_LINKS 40
#define MAX_DEPTH 4 /* of overlays whose layers lie in overlays */

void mounts_add(struct mounts *mounts, dev_t dev)
{
	if (!mounts_hold(mounts, dev) && mounts->nr < MOUNTS_MAX)
		mounts->devs[mounts->nr++] = dev;
}

bool mounts_hold(const struct mounts *mounts, dev_t dev)
{
	unsigned i = 0;

	while (i < mounts->nr && mounts->devs[i] != dev)
		i++;
	return i < mounts->nr;
}

bool mounts_meet(const struct mounts *a, const struct mounts *b)
{
	unsigned i = 0;

	while (i < a->nr && !mounts_hold(b, a->devs[i]))
		i++;
	return i < a->nr;
}

/* --- /proc/PID/mountinfo ---------------------------------------------------------------------- */

struct mount {
	char *point;
	char *layers; /* NULL: it is no overlay. Options, one of which is lowerdir=FOLDER:FOLDER */
	dev_t dev;
	bool is_local;
};

/* The mounts of one namespace. */
struct mount_table {
	struct mount *mounts;
	size_t nr;
	char root[32]; /* leads to it: "/proc/17/root", or "" */
	unsigned depth;
};

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

/* "36 35 98:0 / /mount/point rw,noatime master:1 - ext3 /dev/root rw" */
static bool parse_line(char *line, struct mount *mount)
{
	char *dash = strstr(line, " - "), *rest = line, *field[5], *type;
	unsigned major, minor;

	for (int i = 0; i < 5; i++)
		field[i] = rest ? strsep(&rest, " ") : NULL;
	if (!dash || !rest || dash < rest - 1 || sscanf(field[2], "%u:%u", &major, &minor) != 2)
		return false;
	rest = dash + 3;
	type = strsep(&rest, " ");
	unescape(field[4]);
	*mount = (struct mount){
		.point = strdup(field[4]),
		.layers = rest && !strcmp(type, "overlay") ? strdup(rest) : NULL,
		.dev = makedev(major, minor),
		.is_local = is_local(type),
	};
	return mount->point;
}

static void mount_table_read(struct mount_table *table, pid_t pid)
{
	FILE *file;
	char path[64], *line = NULL;
	size_t room = 0;
	struct mount mount, *grown;

	if (pid)
		snprintf(table->root, sizeof(table->root), "/proc/%d/root", pid);
	snprintf(path, sizeof(path), pid ? "/proc/%d/mountinfo" : "/proc/self/mountinfo", pid);
	file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!parse_line(line, &mount))
			continue;
		grown = array_grow(table->mounts, table->nr, sizeof(*grown));
		if (!grown)
			break;
		table->mounts = grown;
		grown[table->nr++] = mount;
	}
	free(line);
	if (file)
		fclose(file);
}

static void mount_table_fini(struct mount_table *table)
{
	while (table->nr) {
		free(table->mounts[--table->nr].point);
		free(table->mounts[table->nr].layers);
	}
	free(table->mounts);
}

static bool holds(const char *folder, const char *path)
{
	size_t size = strlen(folder);

	return !strcmp(folder, "/") ||
	       (!strncmp(path, folder, size) && (path[size] == '/' || !path[size]));
}

/* The mount that a path without links leads to; a later one hides earlier ones. */
static const struct mount *mount_of(const struct mount_table *table, const char *path)
{
	const struct mount *best = NULL;

	for (const struct mount *mount = table->mounts; mount < table->mounts + table->nr; mount++)
		if (holds(mount->point, path) &&
		    (!best || strlen(mount->point) >= strlen(best->point)))
			best = mount;
	return best;
}

/* --- the way to a path ------------------------------------------------------------------------ */

static void walk(struct mounts *mounts, pid_t pid, const char *path, unsigned depth);

/* Layers are folders of the namespace where the overlay was mounted, which mostly is ours. */
static void walk_layers(struct mounts *mounts, const char *options, unsigned depth)
{
	char *copy = strdup(options), *rest = copy, *option, *folder;

	while (copy && (option = strsep(&rest, ","))) {
		if (strncmp(option, "lowerdir", 8) != 0 && strncmp(option, "upperdir", 8) != 0)
			continue;
		unescape(option);
		option += strcspn(option, "=");
		option += *option == '=';
		while ((folder = strsep(&option, ":")))
			walk(mounts, 0, folder, depth + 1);
	}
	free(copy);
}

/* Notes the mount of a folder on the way. Returns whether it is local. */
static bool note_mount(struct mounts *mounts, const struct mount_table *table, const char *folder)
{
	const struct mount *mount = mount_of(table, folder);
	const unsigned nr = mounts->nr;

	if (!mount)
		return false;
	if (!mount->is_local)
		mounts_add(mounts, mount->dev);
	else if (mount->layers && table->depth < MAX_DEPTH)
		walk_layers(mounts, mount->layers, table->depth);
	return mount->is_local && mounts->nr == nr;
}

struct way {
	char done[PATH_MAX]; /* without links */
	char rest[PATH_MAX];
	unsigned links;
};

static void way_up(struct way *way)
{
	char *slash = strrchr(way->done, '/');

	*(slash ? slash : way->done) = '\0';
}

/* Puts the target of a link before the rest of the way. */
static void way_turn(struct way *way, const char *target)
{
	char rest[PATH_MAX];

	if (snprintf(rest, sizeof(rest), "%s/%s", target, way->rest) >= (int)sizeof(rest) ||
	    ++way->links > MAX_LINKS) {
		*way->rest = '\0';
		return;
	}
	memcpy(way->rest, rest, sizeof(rest));
	if (*target == '/')
		*way->done = '\0';
	else
		way_up(way);
}

/* Takes the next name of the rest. Returns false at the end. */
static bool way_step(struct way *way)
{
	size_t skip = strspn(way->rest, "/"), size = strcspn(way->rest + skip, "/");
	size_t used = strlen(way->done);
	const char *name = way->rest + skip;

	if (!size || used + size + 2 > sizeof(way->done))
		return false;
	if (size == 2 && !strncmp(name, "..", 2))
		way_up(way);
	else if (size > 1 || *name != '.')
		snprintf(way->done + used, sizeof(way->done) - used, "/%.*s", (int)size, name);
	memmove(way->rest, name + size, strlen(name + size) + 1);
	return true;
}

static void follow_link(struct way *way, const char *root)
{
	char path[PATH_MAX + 32], target[PATH_MAX];
	ssize_t size;

	snprintf(path, sizeof(path), "%s%s", root, way->done);
	size = readlink(path, target, sizeof(target) - 1);
	if (size <= 0)
		return;
	target[size] = '\0';
	way_turn(way, target);
}

static void walk(struct mounts *mounts, pid_t pid, const char *path, unsigned depth)
{
	struct mount_table table = {.depth = depth};
	struct way *way = calloc(1, sizeof(*way));
	bool is_near = true;

	if (way && *path == '/' && strlen(path) < sizeof(way->rest)) {
		mount_table_read(&table, pid);
		memcpy(way->rest, path, strlen(path) + 1);
	}
	if (table.nr)
		is_near = note_mount(mounts, &table, "/");
	while (table.nr && way_step(way)) {
		is_near &= note_mount(mounts, &table, way->done);
		if (is_near && *way->done)
			follow_link(way, table.root);
	}
	mount_table_fini(&table);
	free(way);
}

void mounts_on_way(struct mounts *mounts, pid_t pid, const char *path)
{
	walk(mounts, pid, path, 0);
}

/* --- open files ------------------------------------------------------------------------------- */

enum served { LOCAL, LAYERED, FOREIGN };

static enum served served(int fd)
{
	struct statfs fs;
	size_t i = 0;

	if (fstatfs(fd, &fs))
		return FOREIGN;
	if ((unsigned)fs.f_type == OVERLAYFS_SUPER_MAGIC)
		return LAYERED;
	while (i < NR_LOCAL && (!local[i].magic || (unsigned)local[i].magic != (unsigned)fs.f_type))
		i++;
	return i < NR_LOCAL ? LOCAL : FOREIGN;
}

static enum served served_folder(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	enum served found = fd < 0 ? LOCAL : served(fd);

	if (fd >= 0)
		close(fd);
	return found;
}

/* The most of all folders on the way. */
static enum served served_way(const char *root, const char *path)
{
	char copy[PATH_MAX + 32];
	enum served most = LOCAL, now;

	snprintf(copy, sizeof(copy), "%s%s", root, path);
	for (char *slash = copy + strlen(root); (slash = strchr(slash, '/')) && most < FOREIGN;
	     slash++) {
		char next = slash[1];

		slash[1] = '\0';
		now = served_folder(copy);
		slash[1] = next;
		if (now > most)
			most = now;
	}
	return most;
}

bool mount_point_is_foreign(int fd, pid_t pid, const char *path)
{
	enum served file = served(fd), own = served_way("", path), theirs = LOCAL;
	struct mounts mounts = {0};
	char root[32];

	if (pid > 0) {
		snprintf(root, sizeof(root), "/proc/%d/root", pid);
		theirs = served_way(root, path);
	}
	if (file == FOREIGN || own == FOREIGN || theirs == FOREIGN)
		return true;
	if (own == LAYERED)
		mounts_on_way(&mounts, 0, path);
	if (theirs == LAYERED || file == LAYERED)
		mounts_on_way(&mounts, pid, path);
	return mounts.nr;
}
