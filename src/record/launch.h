/* Starts the target, which waits behind a barrier until everything is set up to observe it. */
#ifndef RECORD_LAUNCH_H
#define RECORD_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct launch {
	pid_t pid;
	int pidfd;   /* see process_fd.h */
	int barrier; /* a write to it lets the target go on */
	int failure; /* a pipe with the errno of a failed exec or the PID of the sibling */
	bool in_cgroup;
	bool waits; /* it waits behind the barrier */
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
 * Replaces the waiting process by a sibling that inherits its events, and ends it. Whatever happens
 * to the events of the target later, and of tasks that it swaps contexts with, the events that we
 * hold belong to none of them. Returns 0 or -errno.
 */
int launch_replace(struct launch *launch);

/*
 * Lets the process execute its program, and does not wait for that: the program may lie on a file
 * system that does not answer. Returns 0 or -errno.
 */
int launch_go(struct launch *launch);

/* Whether exec of the program has begun and neither succeeded nor failed yet. */
bool launch_is_executing(const struct launch *launch);

/* Returns 0, or the -errno of exec if it failed, whose process has ended. To be called once. */
int launch_failure(struct launch *launch);

/* Waits until the process has ended, at most for this time. Returns whether it has. */
bool launch_ends(const struct launch *launch, int timeout_ms);

/*
 * Reaps ended children other than that process. As the first process of a container we are the
 * parent of all orphans.
 */
void launch_reap_others(const struct launch *launch);

/* Ends a process that still waits. Does nothing to other processes, or if there is none. */
void launch_cancel(struct launch *launch);

#endif
