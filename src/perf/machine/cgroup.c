#include "perf/machine/cgroup.h"

#include "base/text_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEEPEST    32 /* cgroups in cgroups */
#define MOST_NAMES 10 /* that a recorder tries */

/*
 * The path of a process in the hierarchy of a controller: the line "4:memory:/path" of
 * /proc/PID/cgroup. That of version 2 has no name there: "0::/path".
 */
static int path_in(const char *controller, const char *proc_file, char path[PATH_MAX])
{
	FILE *f = fopen(proc_file, "re");
	size_t size = 0, length = strlen(controller);
	char *line = NULL;
	int result = -ENOENT;

	if (!f)
		return -errno;
	while (getline(&line, &size, f) > 0) {
		const char *name = strchr(line, ':');

		if (!name || strncmp(name + 1, controller, length) || name[1 + length] != ':')
			continue;
		line[strcspn(line, "\n")] = '\0';
		result = snprintf(path, PATH_MAX, "%s", name + length + 2) < PATH_MAX
		                 ? 0
		                 : -ENAMETOOLONG;
		break;
	}
	free(line);
	fclose(f);
	return result;
}

/*
 * These separators stand in /proc/self/mountinfo between the mount point and the options of the
 * file system.
 */
#define VERSION_1 " - cgroup "
#define VERSION_2 " - cgroup2 "

/*
 * Returns the part of a path below the root, or NULL if the path lies elsewhere. Above the root of
 * a cgroup namespace paths begin with "/..".
 */
static const char *path_below(const char *path, const char *root)
{
	size_t size = strcmp(root, "/") ? strlen(root) : 0;
	bool inside = !strncmp(path, root, size) && (!path[size] || path[size] == '/');

	return inside && strncmp(path + size, "/..", 3) ? path + size : NULL;
}

/*
 * Where the hierarchy with a controller ("": any) is mounted, and which part of it: fields 5 and 4
 * of mountinfo. With a path, only where that is in this part.
 */
static int mount_of(const char *version, const char *controller, const char *path,
                    char point[PATH_MAX], char root[PATH_MAX])
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size = 0;
	int result = -ENOENT;

	if (!f)
		return -errno;
	while (result && getline(&line, &size, f) > 0) {
		const char *options = strstr(line, version);

		if (options && strstr(options, controller) &&
		    sscanf(line, "%*s %*s %*s %4095s %4095s", root, point) == 2 &&
		    (!path || path_below(path, root)))
			result = 0;
	}
	free(line);
	fclose(f);
	return result;
}

static int own_directory_in(const char *version, const char *controller, char directory[PATH_MAX])
{
	char point[PATH_MAX], root[PATH_MAX], own[PATH_MAX] = "";
	int err = path_in(controller, "/proc/self/cgroup", own);
	const char *below;

	if (!err)
		err = mount_of(version, controller, own, point, root);
	if (err)
		return err;
	below = path_below(own, root);
	if (snprintf(directory, PATH_MAX, "%s%s", point, strcmp(below, "/") ? below : "") >=
	    PATH_MAX)
		return -ENAMETOOLONG;
	return 0;
}

static int own_directory(char directory[PATH_MAX])
{
	return own_directory_in(VERSION_2, "", directory);
}

/* adaptrace-PID or adaptrace-PID.NUMBER: see make_directory(). */
static bool is_recorders(const char *name)
{
	static const char prefix[] = "adaptrace-";
	size_t size = strlen(prefix);

	return !strncmp(name, prefix, size) && name[size] &&
	       !name[size + strspn(name + size, "0123456789.")];
}

/*
 * Opens a directory whose recorder does not live, or -errno. The recorder holds the lock as long as
 * it lives: process numbers are used again, and those of other containers say nothing here.
 */
static int lock_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Calls fn for each cgroup in one. */
static void for_each_below(const char *path,
                           void (*fn)(const char *below, unsigned depth, void *arg), unsigned depth,
                           void *arg)
{
	char below[PATH_MAX];
	struct dirent *entry;
	DIR *dir = depth ? opendir(path) : NULL;

	while (dir && (entry = readdir(dir)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
		    snprintf(below, sizeof(below), "%s/%s", path, entry->d_name) <
		            (int)sizeof(below))
			fn(below, depth - 1, arg);
	if (dir)
		closedir(dir);
}

/* Removes a cgroup with the empty ones in it; the kernel refuses while one has a process. */
static void remove_tree(const char *path, unsigned depth, void *arg)
{
	for_each_below(path, remove_tree, depth, arg);
	rmdir(path);
}

static void sweep(const char *parent)
{
	char path[PATH_MAX + 300];
	struct dirent *entry;
	DIR *dir = opendir(parent);
	int fd;

	while (dir && (entry = readdir(dir))) {
		if (!is_recorders(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", parent, entry->d_name);
		fd = lock_directory(path);
		if (fd < 0)
			continue;
		remove_tree(path, DEEPEST, NULL);
		close(fd);
	}
	if (dir)
		closedir(dir);
}

void cgroup_sweep(void)
{
	char parent[PATH_MAX];

	if (!own_directory(parent))
		sweep(parent);
}

static bool is_at(int fd, const char *path)
{
	struct stat a, b;

	return !fstat(fd, &a) && !stat(path, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/*
 * A new one, for in one that is there a killed recorder's target may run. Before we have its lock
 * another recorder may sweep it away.
 */
static int make_directory(struct cgroup *cgroup)
{
	char number[16] = "";

	for (unsigned i = 0; i < MOST_NAMES; i++) {
		if (i)
			snprintf(number, sizeof(number), ".%u", i);
		if (snprintf(cgroup->path, sizeof(cgroup->path), "%s/adaptrace-%d%s",
		             cgroup->parent, (int)getpid(), number) >= (int)sizeof(cgroup->path))
			return -ENAMETOOLONG;
		if (mkdir(cgroup->path, 0755)) {
			if (errno != EEXIST)
				return -errno;
			continue;
		}
		cgroup->fd = lock_directory(cgroup->path);
		if (cgroup->fd >= 0 && is_at(cgroup->fd, cgroup->path))
			return 0;
		if (cgroup->fd >= 0)
			close(cgroup->fd);
		cgroup->fd = -1;
		rmdir(cgroup->path);
	}
	return -EEXIST;
}

int cgroup_create(struct cgroup *cgroup)
{
	int err;

	cgroup->fd = -1;
	cgroup->existed = false;
	cgroup->parent[0] = '\0';
	err = own_directory(cgroup->parent);
	if (err)
		return err;
	sweep(cgroup->parent);
	return make_directory(cgroup);
}

static int open_directory(struct cgroup *cgroup)
{
	char file[PATH_MAX + 16];

	snprintf(file, sizeof(file), "%s/cgroup.procs", cgroup->path);
	if (access(file, F_OK))
		return -errno;
	cgroup->fd = open(cgroup->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return cgroup->fd < 0 ? -errno : 0;
}

int cgroup_open(struct cgroup *cgroup, const char *name)
{
	char root[PATH_MAX];
	int err;

	cgroup->fd = -1;
	cgroup->existed = true;
	err = mount_of(VERSION_1, "perf_event", NULL, cgroup->parent, root);
	if (err)
		err = mount_of(VERSION_2, "", NULL, cgroup->parent, root);
	if (err)
		return err;
	if (snprintf(cgroup->path, sizeof(cgroup->path), "%s%s%s", cgroup->parent,
	             name[0] == '/' ? "" : "/", name) >= (int)sizeof(cgroup->path))
		return -ENAMETOOLONG;
	err = open_directory(cgroup);
	if (err != -ENOENT || name[0] != '/')
		return err;
	/* as it stands in the file system */
	snprintf(cgroup->path, sizeof(cgroup->path), "%s", name);
	return open_directory(cgroup);
}

struct cgroup_walk {
	void (*fn)(void *arg, pid_t pid);
	void *arg;
};

static void walk_processes(const char *path, const struct cgroup_walk *walk)
{
	char file[PATH_MAX + 16];
	FILE *procs;
	int pid;

	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	procs = fopen(file, "re");
	while (procs && fscanf(procs, "%d", &pid) == 1)
		walk->fn(walk->arg, pid);
	if (procs)
		fclose(procs);
}

static void walk_tree(const char *path, unsigned depth, void *arg)
{
	walk_processes(path, arg);
	for_each_below(path, walk_tree, depth, arg);
}

void cgroup_walk(const struct cgroup *cgroup, void (*fn)(void *arg, pid_t pid), void *arg)
{
	walk_tree(cgroup->path, DEEPEST, &(struct cgroup_walk){fn, arg});
}

int cgroup_probe(const struct cgroup *cgroup)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, cgroup->fd, sched_getcpu(), -1,
	                      PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

struct advice cgroup_advise(const struct cgroup *cgroup, int err)
{
	struct advice advice = {.topic = ADVICE_CGROUPS_DENIED, .subject = cgroup->parent};

	if (!err)
		advice.topic = ADVICE_NONE;
	else if (err == -ENOENT && cgroup->fd < 0)
		advice.topic = ADVICE_NO_CGROUPS;
	else if (err == -EROFS)
		advice.topic = ADVICE_CGROUPS_READONLY;
	else if (err == -ENOENT || err == -EBADF || err == -EINVAL)
		advice.topic = ADVICE_CGROUPS_V1;
	return advice;
}

static int move_to(const char *directory, pid_t pid)
{
	char file[PATH_MAX + 16], text[16];
	int fd, length = snprintf(text, sizeof(text), "%d", (int)pid), err = 0;

	snprintf(file, sizeof(file), "%s/cgroup.procs", directory);
	fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, (size_t)length) != length)
		err = -errno;
	close(fd);
	return err;
}

int cgroup_add(const struct cgroup *cgroup, pid_t pid)
{
	return move_to(cgroup->path, pid);
}

int cgroup_take_out(const struct cgroup *cgroup, pid_t pid)
{
	return cgroup->existed ? -EPERM : move_to(cgroup->parent, pid);
}

bool cgroup_can_freeze(const struct cgroup *cgroup)
{
	return cgroup->fd >= 0 && !faccessat(cgroup->fd, "cgroup.freeze", W_OK, AT_EACCESS);
}

int cgroup_path_of(pid_t pid, char path[PATH_MAX])
{
	char file[32];

	snprintf(file, sizeof(file), "/proc/%d/cgroup", (int)pid);
	return path_in("", file, path);
}

bool cgroup_holds(const struct cgroup *cgroup, pid_t pid)
{
	char path[PATH_MAX];
	const char *name = strrchr(cgroup->path, '/'), *at = path;
	size_t size = strlen(name);

	if (cgroup_path_of(pid, path))
		return true;
	while ((at = strstr(at, name)) && at[size] && at[size] != '/')
		at += size;
	return at;
}

uint64_t cgroup_cpu_time(const struct cgroup *cgroup)
{
	char file[PATH_MAX + 16];
	uint64_t us = 0;
	FILE *f;

	if (cgroup->fd < 0)
		return 0;
	snprintf(file, sizeof(file), "%s/cpu.stat", cgroup->path);
	f = fopen(file, "re");
	if (f && fscanf(f, "usage_usec %" SCNu64, &us) != 1)
		us = 0;
	if (f)
		fclose(f);
	return us * 1000;
}

/*
 * Reads the memory limit of cgroup version 1: memory.stat contains the smallest limit of the cgroup
 * and of those above it.
 */
static uint64_t memory_limit_v1(void)
{
	char own[PATH_MAX], file[PATH_MAX + 16], line[128];
	uint64_t limit = UINT64_MAX;
	FILE *f;

	if (own_directory_in(VERSION_1, "memory", own))
		return UINT64_MAX;
	snprintf(file, sizeof(file), "%s/memory.stat", own);
	f = fopen(file, "re");
	while (f && fgets(line, sizeof(line), f) &&
	       sscanf(line, "hierarchical_memory_limit %" SCNu64, &limit) != 1)
		continue;
	if (f)
		fclose(f);
	return limit;
}

uint64_t cgroup_memory_limit(void)
{
	char own[PATH_MAX], file[PATH_MAX + 16];
	uint64_t limit = memory_limit_v1();
	int64_t bytes;

	for (char *end = own_directory(own) ? NULL : own + strlen(own); end;
	     end = strrchr(own, '/')) {
		*end = '\0';
		snprintf(file, sizeof(file), "%s/memory.max", own);
		if (!text_file_number(file, &bytes) && (uint64_t)bytes < limit)
			limit = (uint64_t)bytes;
	}
	return limit;
}

static void move_up(void *arg, pid_t pid)
{
	const struct cgroup *cgroup = arg;

	move_to(cgroup->parent, pid);
}

void cgroup_remove(struct cgroup *cgroup)
{
	struct cgroup_walk walk = {move_up, cgroup};

	if (cgroup->fd < 0)
		return;
	close(cgroup->fd);
	cgroup->fd = -1;
	if (cgroup->existed)
		return;
	/*
	 * Another try finds processes that were forked meanwhile, and ending processes need a
	 * moment. Processes in a cgroup that the target made belong to the target: the next
	 * recorder tries again to remove those cgroups.
	 */
	for (unsigned tries = 0; tries < 100; tries++) {
		remove_tree(cgroup->path, DEEPEST, NULL);
		if (access(cgroup->path, F_OK))
			break;
		walk_processes(cgroup->path, &walk);
		if (tries >= 10)
			usleep(1000);
	}
}
