/* Whole CPUs, and cgroups that exist: whoever runs there is sampled. */
#include "record/tasks/process.h"
#include "record/session.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define FIRST_PID_NAMESPACE 0xeffffffc /* inode number, the same everywhere */

/* One that ends meanwhile is none any more. */
static void add_running(void *tasks, pid_t pid)
{
	tasks_add_running(tasks, pid);
}

static void add_everyone(struct tasks *tasks)
{
	DIR *processes = process_all();
	pid_t pid;

	while (processes && (pid = process_next(processes)))
		add_running(tasks, pid);
	if (processes)
		closedir(processes);
}

/* Other events than clocks occur in the idle tasks of CPUs, too. */
static bool samples_idle(const struct record_config *config)
{
	bool clocks = !config->cgroup;

	for (unsigned e = 0; e < config->nr_events; e++)
		clocks = clocks && config->events[e].unit == EVENT_NS;
	return !clocks;
}

/* The kernel reports every process outside our PID namespace as process 0, as it does idle CPUs. */
static void note_namespace(struct session *s)
{
	struct stat namespace;

	if (stat("/proc/self/ns/pid", &namespace) || namespace.st_ino == FIRST_PID_NAMESPACE)
		return;
	s->tasks.nobody = samples_idle(s->config) ? "[outside or idle]" : "[outside]";
	session_notice(s, (struct notice){NOTICE_NAMESPACE, .text = s->tasks.nobody});
}

static int open_cgroup(struct session *s)
{
	int err = cgroup_open(&s->cgroup, s->config->cgroup);

	if (!err)
		err = cgroup_probe(&s->cgroup);
	if (err)
		session_notice(s, (struct notice){NOTICE_NO_CGROUP, err});
	return err;
}

/*
 * Records of changes between the opening and the reading of /proc are in the rings. They are
 * entered after the state from /proc: entering the same mapping twice has no effect.
 */
int session_open_wide(struct session *s)
{
	int err = s->config->cgroup ? open_cgroup(s) : 0;

	s->tasks.everyone = true;
	if (!err)
		err = session_open_sampler(s, NULL, 0);
	if (err)
		return err;
	note_namespace(s);
	if (s->config->cgroup)
		cgroup_walk(&s->cgroup, add_running, &s->tasks);
	else
		add_everyone(&s->tasks);
	return 0;
}
