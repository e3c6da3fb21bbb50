/*
 * Processes that run: already when they are attached to, where what /proc says stands for records,
 * when sampling begins, and still when it ends.
 */
#include "record/tasks/process.h"
#include "record/tasks/process_times.h"
#include "record/tasks/tasks.h"
#include "base/array.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t comm_of(struct tasks *tasks, pid_t pid, pid_t tid)
{
	char path[64], comm[64] = "";
	size_t size;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
	f = fopen(path, "re");
	/* The last end of line is /proc's; others are the name's. */
	size = f ? fread(comm, 1, sizeof(comm) - 1, f) : 0;
	comm[size ? size - 1 : 0] = '\0';
	if (f)
		fclose(f);
	return tables_comm(tasks->tables, comm);
}

/* One line of /proc/PID/maps as the record that the kernel would have written. */
static void map_line(struct tasks *tasks, pid_t pid, char *line)
{
	struct record record = {.type = RECORD_MMAP, .pid = (uint32_t)pid, .tid = (uint32_t)pid};
	char protection[8];
	int path_at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n",
	           &record.mmap.start, &record.mmap.end, protection, &record.mmap.pgoff,
	           &record.mmap.dev_major, &record.mmap.dev_minor, &record.mmap.ino,
	           &path_at) < 7 ||
	    !strchr(protection, 'x') || !path_at)
		return;
	line[strcspn(line, "\n")] = '\0';
	record.mmap.path = line[path_at] ? line + path_at : "//anon";
	tasks_record(tasks, &record);
}

/* NULL: it has nothing there, or with errno. */
static FILE *open_maps_of(pid_t pid, pid_t tid)
{
	char path[64];
	int first, errnum;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/maps", (int)pid, (int)tid);
	errno = 0;
	f = fopen(path, "re");
	first = f ? fgetc(f) : EOF;
	if (first != EOF) {
		ungetc(first, f);
		return f;
	}
	errnum = f && !ferror(f) ? 0 : errno;
	if (f)
		fclose(f);
	errno = errnum;
	return NULL;
}

/* The first thread may have ended: then others know what it knew. NULL as open_maps_of(). */
static FILE *open_maps(pid_t pid)
{
	DIR *threads = process_threads(pid);
	FILE *f = NULL;
	int errnum = 0;
	pid_t tid;

	if (!threads)
		return NULL;
	while (!f && (tid = process_next(threads))) {
		f = open_maps_of(pid, tid);
		errnum = f ? 0 : errno;
	}
	closedir(threads);
	errno = errnum;
	return f;
}

/* 0, or -errno where not all could be read: code is missing then. */
static int add_maps(struct tasks *tasks, pid_t pid, FILE *f)
{
	char *line = NULL;
	size_t size = 0;
	int errnum;

	if (f)
		errno = 0;
	while (f && getline(&line, &size, f) > 0)
		map_line(tasks, pid, line);
	errnum = f && feof(f) ? 0 : errno;
	free(line);
	if (f)
		fclose(f);
	if (errnum == ESRCH || errnum == ENOENT) /* it has ended */
		errnum = 0;
	tables_run(tasks->tables)->refused_mappings += errnum != 0;
	return -errnum;
}

/* How many pieces of code are mapped. */
static unsigned count_maps(FILE *f)
{
	char *line = NULL;
	size_t size = 0;
	unsigned nr = 0;

	while (getline(&line, &size, f) > 0)
		nr += strcspn(line, "x") < strcspn(line, "/[\n");
	free(line);
	rewind(f);
	return nr;
}

bool tasks_reread_maps(struct tasks *tasks, struct process *process)
{
	FILE *f = open_maps(process->pid);

	if (!f)
		return false;
	process->rereads = true;
	if (count_maps(f) > SPACE_MAX_MAPPINGS / 2) {
		fclose(f);
		return false;
	}
	space_clear(process->space);
	add_maps(tasks, process->pid, f);
	process->rereads = false;
	process->mapped = 0;
	return true;
}

int tasks_add_running(struct tasks *tasks, pid_t pid)
{
	DIR *threads = process_threads(pid);
	pid_t tid;

	if (!threads)
		return -errno;
	while ((tid = process_next(threads))) {
		struct task *task = tasks_of_sample(tasks, pid, tid);

		if (!task)
			continue;
		task->seen = sampler_now();
		tables_command(tasks->tables, task->comm)->tasks--;
		task->comm = comm_of(tasks, pid, tid);
		tasks_note_name(task);
		tables_command(tasks->tables, task->comm)->tasks++;
	}
	closedir(threads);
	return add_maps(tasks, pid, open_maps(pid));
}

bool tasks_gone(pid_t tid)
{
	return kill(tid, 0) && errno == ESRCH;
}

int tasks_list_threads(pid_t pid, size_t most, pid_t **tids, size_t *nr)
{
	DIR *threads = process_threads(pid);
	int err = threads ? 0 : -errno;
	pid_t tid;

	if (!threads)
		return tasks_gone(pid) ? 0 : err;
	while (!err && *nr < most && (tid = process_next(threads)))
		err = ARRAY_ADD(*tids, *nr, tid);
	closedir(threads);
	return err;
}

/* Resets the counts of commands. The tasks themselves stay: later records report their changes. */
static void forget_commands(struct tasks *tasks)
{
	struct trace_command *command;

	for (uint32_t i = 0; (command = tables_command_at(tasks->tables, i)); i++) {
		command->flags &= ~(uint32_t)TRACE_THREAD_EXACT;
		command->tasks = 0;
		command->exact = command->unobserved = 0;
	}
}

void tasks_begin(struct tasks *tasks)
{
	tasks_count_unobserved(tasks);
	forget_commands(tasks);
	for (struct task *task = tasks->tasks; task; task = task->hh.next) {
		/* A task with an EXIT record may live on, unobserved. */
		if ((task->unobserved || task->ended) && !process_is_there(task->tid, tasks->now))
			continue;
		tables_command(tasks->tables, task->comm)->tasks++;
		task->usage.ran = task->usage.sampled = task->usage.earlier = 0;
		task->usage.told = false;
		if (task->usage.runs_since)
			task->usage.runs_since = sampler_now();
		if (tasks->user_only)
			task->usage.before = thread_used_by(task->tid, sampler_now());
		if (tasks->inherited && task->tid == task->process->pid)
			task->usage.observed = process_used(task->tid);
	}
	tasks->nr_told = tasks->nr_ended = 0;
	tasks->unobserved = unobserved_nr(&tasks->unobserved_list);
	tasks->unobserved_list.missed = 0;
}

/* Whether it is a process that has not said that it ended. */
static bool is_running_process(const struct task *task)
{
	return !task->ended && task->tid == task->process->pid;
}

static bool lives(const struct tasks *tasks, pid_t pid)
{
	uint64_t own, children;

	return process_cpu_time(pid, tasks->now, &own, &children);
}

unsigned tasks_running_on(const struct tasks *tasks, pid_t *oldest)
{
	unsigned nr = 0;

	for (const struct task *task = tasks->tasks; task; task = task->hh.next) {
		if (!is_running_process(task) || !lives(tasks, task->tid))
			continue;
		if (!nr++)
			*oldest = task->tid;
	}
	return nr;
}

void tasks_note_dead(struct tasks *tasks)
{
	for (struct task *task = tasks->tasks; task; task = task->hh.next)
		task->dead = is_running_process(task) && !process_is_there(task->tid, tasks->now);
}

/* Checks lives() a second time because a dying process leaves its cgroup, too. */
static bool lives_elsewhere(const struct tasks *tasks, pid_t pid, const struct cgroup *cgroup)
{
	return lives(tasks, pid) && !cgroup_holds(cgroup, pid) && lives(tasks, pid);
}

static bool has_left(const struct tasks *tasks, const struct task *task,
                     const struct cgroup *cgroup)
{
	return task->dead ? !task->process->discovered : lives_elsewhere(tasks, task->tid, cgroup);
}

bool tasks_left(const struct tasks *tasks, const struct cgroup *cgroup)
{
	for (const struct task *task = tasks->tasks; task; task = task->hh.next)
		if (is_running_process(task) && has_left(tasks, task, cgroup))
			return true;
	return false;
}
