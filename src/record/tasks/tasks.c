#include "record/tasks/tasks.h"

#include "record/tasks/mapping.h"
#include "record/tasks/process_times.h"
#include "record/tasks/task_names.h"

#include <errno.h>
#include <stdlib.h>
#include <utlist.h>

/* READ records come after the EXIT of their task, and late records later still. */
#define ENDED_GRACE_NS 100000000

void tasks_init(struct tasks *tasks, struct tables *tables, struct module_table *modules,
                unsigned nr_streams, void (*forget)(void *arg, pid_t tid), void *arg)
{
	*tasks = (struct tasks){
		.tables = tables,
		.modules = modules,
		.nr_streams = nr_streams,
		.inherited = nr_streams > 0,
		.nobody = TRACE_IDLE,
		.scale = 1,
		.room = {.most = TASKS_MAX_MAPPINGS},
		.kept = UINT64_MAX,
		.forget = forget,
		.forget_arg = arg,
	};
	unobserved_init(&tasks->unobserved_list);
}

static struct process *find_process(struct tasks *tasks, pid_t pid)
{
	struct process *process;

	HASH_FIND_INT(tasks->processes, &pid, process);
	return process;
}

static struct task *find_task(struct tasks *tasks, pid_t tid)
{
	struct task *task;

	HASH_FIND_INT(tasks->tasks, &tid, task);
	return task;
}

/* Adds a process with its parent's mappings, or none. */
static struct process *add_process(struct tasks *tasks, pid_t pid, const struct process *parent)
{
	struct process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	process->pid = pid;
	process->space = parent ? space_fork(parent->space, pid) : space_new(pid);
	if (!process->space) {
		free(process);
		return NULL;
	}
	space_limit(process->space, &tasks->room);
	HASH_ADD_INT(tasks->processes, pid, process);
	if (process->hh.tbl)
		return process;
	space_put(process->space);
	free(process);
	return NULL;
}

static void drop_process(struct tasks *tasks, struct process *process)
{
	HASH_DEL(tasks->processes, process);
	space_put(process->space);
	free(process);
}

static void drop_task(struct tasks *tasks, struct task *task)
{
	if (tasks->forget)
		tasks->forget(tasks->forget_arg, task->tid);
	HASH_DEL(tasks->tasks, task);
	tasks->nr_claimed -= task->claimed;
	if (!--task->process->nr_tasks)
		drop_process(tasks, task->process);
	counter_sums_free(task->counters);
	free(task->names);
	free(task->added);
	free(task);
}

void tasks_fini(struct tasks *tasks)
{
	struct task *task, *next;

	unobserved_fini(&tasks->unobserved_list);
	HASH_ITER(hh, tasks->tasks, task, next)
	{
		drop_task(tasks, task);
	}
}

static bool is_first(const struct task *task)
{
	return task->tid == task->process->pid;
}

static struct task *add_task(struct tasks *tasks, struct process *process, pid_t tid, uint32_t comm)
{
	struct task *task = calloc(1, sizeof(*task) + tasks->nr_streams * sizeof(task->streams[0]));

	if (!task)
		return NULL;
	task->tid = tid;
	HASH_ADD_INT(tasks->tasks, tid, task);
	if (!task->hh.tbl) {
		free(task);
		return NULL;
	}
	task->process = process;
	task->comm = comm;
	task->thread = NO_THREAD;
	process->nr_tasks++;
	tables_command(tasks->tables, comm)->tasks++;
	tasks_note_name(task);
	return task;
}

void tasks_note_name(const struct task *task)
{
	if (is_first(task) || !task->process->comm)
		task->process->comm = task->comm;
}

/* --- endings ---------------------------------------------------------------------------------- */

static void leave_thread(struct tasks *tasks, struct task *task, uint64_t time)
{
	task_end_names(tasks, task, time);
	if (task->thread != NO_THREAD)
		tables_thread_ended(tasks->tables, task->thread, time);
	task->thread = NO_THREAD;
}

static void unlist_ended(struct tasks *tasks, struct task *task)
{
	if (!task->ended)
		return;
	DL_DELETE(tasks->oldest_ended, task);
	task->ended = task->gone = 0;
}

/* Removes a task at once: its number is another one's. If it has not ended, that record was lost.
 */
static void replace_task(struct tasks *tasks, struct task *task)
{
	uint64_t time = task->gone ? task->gone : task->ended ? task->ended : tasks->now;

	unlist_ended(tasks, task);
	leave_thread(tasks, task, time);
	drop_task(tasks, task);
}

static void end_task(struct tasks *tasks, struct task *task, uint64_t time)
{
	if (task->ended)
		return;
	task->ended = time ? time : 1;
	DL_APPEND(tasks->oldest_ended, task);
}

/*
 * Setuid and unreadable programs lose inherited events, and say EXIT while they live on. Events of
 * a CPU see a task while its memory is taken apart, which may take longer than the grace.
 */
static bool lives_on(const struct tasks *tasks, const struct task *task, uint64_t *own,
                     uint64_t *children)
{
	if (!tasks->inherited)
		return process_is_there(task->tid, task->ended);
	return task->tid == task->process->pid &&
	       process_cpu_time(task->tid, task->ended, own, children);
}

/*
 * Adds the time since the kernel stopped observing the task to the missed time; `most` bounds it.
 */
static void note_missed(struct tasks *tasks, const struct task *task, uint64_t most)
{
	uint64_t since = sampler_now() - task->ended;

	tasks->unobserved_list.missed += since < most ? since : most;
}

/*
 * The CPU time of the task's children until now was observed as theirs or is missing. The CPU time
 * of the task itself is the total that the kernel reported or, without a report, its CPU time so
 * far.
 */
static void note_unobserved(struct tasks *tasks, const struct task *task, uint64_t own,
                            uint64_t children)
{
	uint64_t observed = task->usage.told ? task->usage.observed : own;

	tasks->unobserved++;
	note_missed(tasks, task, children + (task->usage.told ? 0 : own));
	unobserved_add(&tasks->unobserved_list, task->tid, task->comm, observed + children);
}

/*
 * Whoever executes has code mapped before it ends, unless the kernel stopped observing then: it
 * lived on, but not for long.
 */
static void note_short(struct tasks *tasks, const struct task *task)
{
	if (!tasks->inherited || !task->process->bare || task->tid != task->process->pid)
		return;
	tasks->unobserved++;
	note_missed(tasks, task, UINT64_MAX);
}

/*
 * The first thread may end long before others, and stands for those that are being reaped, of which
 * samples do not tell the number.
 */
static bool is_needed(const struct task *task)
{
	return is_first(task) && task->process->nr_tasks > 1;
}

#define FOR_GOOD UINT64_MAX

/* A task that still lives is checked again when another grace period has passed since `until`. */
static void reap_oldest(struct tasks *tasks, uint64_t until)
{
	struct task *task = tasks->oldest_ended;
	uint64_t own, children;

	DL_DELETE(tasks->oldest_ended, task);
	if (is_needed(task) && until != FOR_GOOD) {
		task->ended = 0;
		end_task(tasks, task, until);
		return;
	}
	if (!task->gone && lives_on(tasks, task, &own, &children)) {
		if (tasks->inherited)
			note_unobserved(tasks, task, own, children);
		task->ended = 0;
		task->unobserved = tasks->inherited;
		if (!tasks->inherited && until != FOR_GOOD)
			end_task(tasks, task, until);
		return;
	}
	if (!tasks->inherited && !task->gone && until != FOR_GOOD) {
		/* If it lived on until now, its last samples are still in the rings. */
		task->gone = task->ended;
		task->ended = 0;
		end_task(tasks, task, until);
		return;
	}
	note_short(tasks, task);
	leave_thread(tasks, task, task->gone ? task->gone : task->ended);
	drop_task(tasks, task);
}

static void reap_until(struct tasks *tasks, uint64_t time)
{
	if (time != FOR_GOOD && time > tasks->kept)
		time = tasks->kept;
	while (tasks->oldest_ended && tasks->oldest_ended->ended < time)
		reap_oldest(tasks, time);
}

/* --- records ---------------------------------------------------------------------------------- */

/* Whoever had the number of a process that begins is gone, whether it has said so or not. */
static void replace_process(struct tasks *tasks, pid_t pid)
{
	struct task *task, *next;

	if (!find_process(tasks, pid))
		return;
	HASH_ITER(hh, tasks->tasks, task, next)
	{
		if (task->process->pid == pid)
			replace_task(tasks, task);
	}
}

/*
 * A parent that was moved into the observed cgroup may have had no records yet. It is then read
 * from /proc, so that its child can inherit its name and mappings.
 */
static struct task *find_parent(struct tasks *tasks, const struct record *record)
{
	pid_t pid = (pid_t)record->fork.parent_pid, tid = (pid_t)record->fork.parent_tid;

	if (tasks->everyone && pid && tid)
		return tasks_of_sample(tasks, pid, tid);
	return tid ? find_task(tasks, tid) : NULL;
}

static void on_fork(struct tasks *tasks, const struct record *record)
{
	pid_t pid = (pid_t)record->pid, tid = (pid_t)record->tid;
	struct task *parent, *task = find_task(tasks, tid);
	struct process *process;

	if (task && (task->process->awaits_exec || task->seen > record->time))
		return;
	if (task)
		replace_task(tasks, task);
	if (pid == tid)
		replace_process(tasks, pid);
	parent = find_parent(tasks, record);
	if (find_task(tasks, tid)) /* /proc told of it already, with the parent */
		return;
	process = find_process(tasks, pid);
	if (!process)
		process = add_process(tasks, pid, parent ? parent->process : NULL);
	if (!process)
		return;
	task = add_task(tasks, process, tid, parent ? parent->comm : 0);
	if (!task && !process->nr_tasks)
		drop_process(tasks, process);
}

static void on_exit_record(struct tasks *tasks, struct task *task, const struct record *record)
{
	tasks->nr_ended++;
	if (!task)
		return;
	if (tasks->by_switches && !task->ended)
		tasks_tell_ran(tasks, task, record->time);
	end_task(tasks, task, record->time);
}

/* The target is no more ours: what it has used until now no event has counted. */
static void begin_target(struct tasks *tasks, struct task *task, uint64_t time)
{
	task->process->awaits_exec = false;
	task->usage.ran = 0;
	task->usage.runs_since = tasks_unpaused(tasks, time);
	if (tasks->user_only)
		task->usage.before = thread_used_by(task->tid, time);
}

/*
 * All other threads of the process are gone. One that executed, not being the first, has taken the
 * first's number: the first said EXIT, and its own old number never will.
 */
static void end_others(struct tasks *tasks, struct task *task, uint64_t time)
{
	struct task *other, *next;

	HASH_ITER(hh, tasks->tasks, other, next)
	{
		if (other->process != task->process || other == task)
			continue;
		if (!other->ended)
			tasks_leave_program(tasks, other, task, time);
		end_task(tasks, other, time);
	}
}

static void on_exec(struct tasks *tasks, struct task *task, uint64_t time)
{
	if (task->process->awaits_exec)
		begin_target(tasks, task, time);
	else if (task->ended)
		task->usage.sampled = task->usage.earlier = 0;
	else
		tasks_leave_program(tasks, task, task, time);
	unlist_ended(tasks, task);
	if (task->process->nr_tasks > 1)
		end_others(tasks, task, time);
	if (tasks->forget)
		tasks->forget(tasks->forget_arg, task->tid);
	space_clear(task->process->space);
	task->process->bare = true;
	leave_thread(tasks, task, time);
}

static void on_comm(struct tasks *tasks, const struct record *record)
{
	uint32_t comm = tables_comm(tasks->tables, record->comm.comm);
	struct task *task = tasks_of_sample(tasks, (pid_t)record->pid, (pid_t)record->tid);

	if (!task)
		return;
	if (record->comm.exec)
		on_exec(tasks, task, record->time);
	if (comm == task->comm)
		return;
	tables_command(tasks->tables, task->comm)->tasks--;
	tables_command(tasks->tables, comm)->tasks++;
	task_rename(tasks, task, comm, record->time);
	tasks_note_name(task);
}

static void forget_modules(struct tasks *tasks)
{
	for (const struct process *process = tasks->processes; process; process = process->hh.next)
		space_mark(process->space);
	module_table_forget(tasks->modules);
}

static void on_mmap(struct tasks *tasks, const struct record *record)
{
	struct task *task = tasks_of_sample(tasks, (pid_t)record->pid, (pid_t)record->tid);
	struct process *process = task ? task->process : NULL;
	int err;

	if (!process)
		return;
	process->mapped++;
	process->bare = false;
	if (module_table_is_crowded(tasks->modules))
		forget_modules(tasks);
	err = mapping_enter(tasks->modules, process->space, record);
	if (!err)
		return;
	if (err != -ENOSPC || process->rereads || process->mapped <= SPACE_MAX_MAPPINGS / 2 ||
	    !tasks_reread_maps(tasks, process))
		tables_run(tasks->tables)->refused_mappings++;
}

void tasks_record(struct tasks *tasks, const struct record *record)
{
	struct task *task;

	if (record->time > tasks->now)
		tasks->now = record->time;
	if (record->time > ENDED_GRACE_NS)
		reap_until(tasks, record->time - ENDED_GRACE_NS);
	if (!record->pid) /* one of many that our PID namespace does not show */
		return;
	task = find_task(tasks, (pid_t)record->tid);
	switch (record->type) {
	case RECORD_FORK:
		on_fork(tasks, record);
		break;
	case RECORD_EXIT:
		on_exit_record(tasks, task, record);
		break;
	case RECORD_COMM:
		on_comm(tasks, record);
		break;
	case RECORD_MMAP:
		on_mmap(tasks, record);
		break;
	case RECORD_READ:
		if (task)
			tasks_tell(tasks, task, record->read.value * tasks->scale);
		break;
	case RECORD_RUN:
	case RECORD_STOP:
		if (task)
			tasks_switch(tasks, task, record);
		break;
	default:
		break;
	}
}

void tasks_tick(struct tasks *tasks, uint64_t time)
{
	if (time > ENDED_GRACE_NS)
		reap_until(tasks, time - ENDED_GRACE_NS);
	tasks_count_unobserved(tasks);
}

void tasks_count_unobserved(struct tasks *tasks)
{
	unobserved_count(&tasks->unobserved_list, tasks->tables);
}

void tasks_end(struct tasks *tasks)
{
	reap_until(tasks, FOR_GOOD);
	tasks_count_unobserved(tasks);
}

/* --- looking up ------------------------------------------------------------------------------- */

/* Process 0 has a fixed name: the kernel reports idle CPUs as process 0. */
static uint32_t first_comm(const struct tasks *tasks, pid_t pid)
{
	return pid ? 0 : tables_comm(tasks->tables, tasks->nobody);
}

/*
 * A process that ran before the recorder started, or was moved into the observed cgroup, had no
 * records yet. It is read from /proc.
 */
static struct process *discover_process(struct tasks *tasks, pid_t pid)
{
	struct process *process = add_process(tasks, pid, NULL);

	if (!process)
		return NULL;
	process->discovered = true;
	if (tasks->everyone && pid)
		tasks_add_running(tasks, pid);
	return process;
}

struct task *tasks_of_sample(struct tasks *tasks, pid_t pid, pid_t tid)
{
	struct process *process;
	struct task *task;

	if (pid < 0 || (pid == 0 && !tasks->everyone))
		return NULL;
	if (tid <= 0) /* a thread whose number was taken away: it is just being reaped */
		tid = pid;
	task = find_task(tasks, tid);
	if (task && task->process->pid == pid)
		return task;
	if (task)
		replace_task(tasks, task);
	process = find_process(tasks, pid);
	if (!process)
		process = discover_process(tasks, pid);
	if (!process)
		return NULL;
	task = find_task(tasks, tid);
	if (task)
		return task;
	task = find_task(tasks, pid);
	return add_task(tasks, process, tid,
	                task            ? task->comm
	                : process->comm ? process->comm
	                                : first_comm(tasks, pid));
}

struct task *tasks_of_claim(struct tasks *tasks, pid_t pid, pid_t tid)
{
	struct task *known = find_task(tasks, tid), *task;

	if (known ? known->process->pid != pid && !known->ended
	          : tasks->nr_claimed == TASKS_MAX_CLAIMED)
		tid = pid;
	task = tasks_of_sample(tasks, pid, tid);
	if (task && !known && tid != pid) {
		task->claimed = true;
		tasks->nr_claimed++;
	}
	return task;
}

uint32_t tasks_thread(struct tasks *tasks, struct task *task, uint64_t time)
{
	bool own = !task_has_many_names(task);

	if (task->thread != NO_THREAD)
		return task->thread;
	tables_run(tasks->tables)->folded_threads += !own;
	task->thread = tables_add_thread(tasks->tables, own ? task->process->pid : 0,
	                                 own ? task->tid : 0, task->comm, time);
	return task->thread;
}

int tasks_add_forked(struct tasks *tasks, pid_t pid)
{
	struct task *task = tasks_of_sample(tasks, pid, pid);

	if (!task)
		return -ENOMEM;
	task->process->discovered = false;
	task->process->awaits_exec = true;
	return 0;
}
