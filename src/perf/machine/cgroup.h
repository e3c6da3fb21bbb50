/*
 * A cgroup of the target's own, below the recorder's own in the version 2 hierarchy: it changes no
 * limit, and per-CPU events can be bound to it.
 */
#ifndef PERF_MACHINE_CGROUP_H
#define PERF_MACHINE_CGROUP_H

#include "perf/machine/advice.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup {
	int fd;                /* its directory; -1: none */
	bool existed;          /* it is not ours: nothing is moved, nothing removed */
	char path[PATH_MAX];   /* in the file system */
	char parent[PATH_MAX]; /* the recorder's own */
};

/*
 * A new one, which is locked as long as we live. 0 or -errno: ENOENT where there is no version 2
 * hierarchy, EACCES, EROFS, EPERM. Sweeps before.
 */
int cgroup_create(struct cgroup *cgroup);

/* Removes what killed recorders left of these below our own, as soon as their targets are gone. */
void cgroup_sweep(void);

/*
 * One that exists, by its path in the hierarchy of perf_event, be it of version 1 or 2, or in the
 * file system. 0 or -errno.
 */
int cgroup_open(struct cgroup *cgroup, const char *name);

/* Calls fn for every process in it and below it. */
void cgroup_walk(const struct cgroup *cgroup, void (*fn)(void *arg, pid_t pid), void *arg);

/* Whether events can be bound to it: not where perf_event belongs to a version 1 hierarchy. */
int cgroup_probe(const struct cgroup *cgroup);

/* Why cgroup_create() or cgroup_probe() failed so; its subject lives as long as the cgroup. */
struct advice cgroup_advise(const struct cgroup *cgroup, int err);

/* Whether the kernel can freeze it. */
bool cgroup_can_freeze(const struct cgroup *cgroup);

/* Moves a process into it. 0 or -errno. */
int cgroup_add(const struct cgroup *cgroup, pid_t pid);
/* Moves a process to where the recorder was before. 0 or -errno. */
int cgroup_take_out(const struct cgroup *cgroup, pid_t pid);

/* Finds the path of a process's cgroup in the version 2 hierarchy. 0 or -errno. */
int cgroup_path_of(pid_t pid, char path[PATH_MAX]);

/* Whether a living process is (still) in it or below it; true where that cannot be known. */
bool cgroup_holds(const struct cgroup *cgroup, pid_t pid);

/* CPU time of everything that ran in it, ns; 0: not known. */
uint64_t cgroup_cpu_time(const struct cgroup *cgroup);

/* How much memory we and others may have, together, by the least limit of our cgroups, in bytes. */
uint64_t cgroup_memory_limit(void);

/*
 * Moves what still runs in it to the recorder's own, and removes it with the empty ones in it; not
 * while something runs in one of these.
 */
void cgroup_remove(struct cgroup *cgroup);

#endif
