/*
 * The recorder and the processes that it has forked. Where it is in the target's cgroup, the kernel
 * samples them, too.
 */
#ifndef RECORD_OWN_PROCESSES_H
#define RECORD_OWN_PROCESSES_H

#include "perf/sampler/record.h"

#include <stdbool.h>
#include <sys/types.h>

#define OWN_PROCESSES_MAX \
	16 /* when there are more, one that has ended is forgotten, or the first */

struct own_processes {
	pid_t pids[OWN_PROCESSES_MAX]; /* the recorder itself first */
	/* Some more samples may come of one that has ended, until its PID is another's. */
	bool ended[OWN_PROCESSES_MAX];
	unsigned nr; /* 0: the target's cgroup has none of them */
};

/* Starts with the recorder alone. */
void own_processes_begin(struct own_processes *own, pid_t recorder);

/* Adds one that was forked before there were records. Without the recorder it does nothing. */
void own_processes_add(struct own_processes *own, pid_t pid);

/*
 * Returns whether a record is about one of them. Records are to be given in the order of time,
 * because those of forks tell which processes there are.
 */
bool own_processes_has(struct own_processes *own, const struct record *record);

#endif
