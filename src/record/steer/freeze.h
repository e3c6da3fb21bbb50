/*
 * Stops a target and lets it go on: by cgroup.freeze of its cgroup, or by SIGSTOP to all processes
 * of its tree until no new one is found.
 *
 * A guardian, a side process, lets it go on if the recorder dies meanwhile. What somebody else has
 * frozen or stopped before is left alone.
 */
#ifndef RECORD_STEER_FREEZE_H
#define RECORD_STEER_FREEZE_H

#include "base/side_process.h"
#include "perf/machine/cgroup.h"
#include "record/steer/control.h"

#include <stddef.h>
#include <stdint.h>

#define FREEZE_MAX_PROCESSES (1U << 16)

struct frozen_process {
	pid_t pid;
	uint64_t start; /* of the process, in ticks since boot: a PID is used again */
};

/* Shared with the guardian. An entry is complete before it is counted. */
struct frozen_list {
	uint32_t nr;
	struct frozen_process processes[FREEZE_MAX_PROCESSES];
};

struct freeze {
	int cgroup_fd;            /* cgroup.freeze; -1: processes were stopped */
	struct frozen_list *list; /* NULL: nothing is stopped */
	struct side_process guardian;
};

#define FREEZE_NO_MEMORY "there is not enough memory for a list of its processes"

/* Freezes a cgroup, or says why it is impossible. */
struct refusal freeze_cgroup(struct freeze *freeze, const struct cgroup *cgroup);
/*
 * Stops these processes and all that descend from them, but neither this process nor `except`, nor
 * what descends from this process alone. If it is impossible none is stopped.
 */
struct refusal freeze_tree(struct freeze *freeze, const pid_t *roots, size_t nr_roots,
                           pid_t except);
/* Lets it go on. */
void freeze_end(struct freeze *freeze);

#endif
