/* Starting the target: it waits behind a barrier until everything is set up to observe it. */
#ifndef RECORD_LAUNCH_H
#define RECORD_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct launch {
	pid_t pid;
	int pidfd;   /* see process_fd.h */
	int barrier; /* written to: go on */
	int failure; /* read from: the errno of a failed exec, or the number of the sibling */
	bool in_cgroup;
	bool waits; /* behind the barrier */
};

/*
 * The environment that we were started with; to be freed, its strings belong to it or to the
 * process. Ours is another where a file capability (setcap) gives us more rights than our user has:
 * the loader took away LD_LIBRARY_PATH and what else could mislead us; but the target has no more
 * rights than its user. NULL: no memory.
 */
char **launch_environment(void);

/*
 * Forks a process that will execute argv with this environment and signal mask and everything else
 * as we were started with, in this cgroup where the kernel can do so. It dies with us while it
 * waits. cgroup: its directory; -1: ours. 0 or -errno.
 */
int launch_prepare(struct launch *launch, char **argv, char **environment, const sigset_t *mask,
                   int cgroup);

/*
 * Puts a sibling in its place, which inherits what events it has, and ends it: whatever happens to
 * the events of the target then, and of those that it swaps contexts with, those that we hold are
 * of none of them. 0 or -errno.
 */
int launch_replace(struct launch *launch);

/* Lets it go. 0, or the -errno of exec: then the process is gone. */
int launch_go(struct launch *launch);

/*
 * Reaps what ended of our children but for that process: as the first process of a container we are
 * the parent of all who lost theirs.
 */
void launch_reap_others(const struct launch *launch);

/* Ends a process that still waits; nothing of others, or where there is none. */
void launch_cancel(struct launch *launch);

#endif
