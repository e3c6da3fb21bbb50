#include "record/tasks/task_names.h"

#include <stdlib.h>

struct task_names {
	unsigned nr;
	struct {
		uint32_t comm, thread;
	} names[TASK_MAX_NAMES];
};

/* NO_THREAD: none is known. */
static uint32_t find_slot(const struct task_names *names, uint32_t comm)
{
	for (unsigned i = 0; i < names->nr; i++)
		if (names->names[i].comm == comm)
			return names->names[i].thread;
	return NO_THREAD;
}

/* The totals of its counters begin anew with each slot. */
static bool may_return(const struct tasks *tasks, const struct task *task)
{
	return !task->counters &&
	       !(tables_thread(tasks->tables, task->thread)->flags & TRACE_THREAD_FOLDED);
}

/* false: there is no room, or no memory. */
static bool add_name(struct task *task, uint32_t thread)
{
	struct task_names *names = task->names;

	if (!names)
		names = task->names = calloc(1, sizeof(*names));
	if (!names)
		return false;
	if (find_slot(names, task->comm) != NO_THREAD)
		return true;
	if (names->nr == TASK_MAX_NAMES)
		return false;
	names->names[names->nr].comm = task->comm;
	names->names[names->nr++].thread = thread;
	return true;
}

void task_rename(struct tasks *tasks, struct task *task, uint32_t comm, uint64_t time)
{
	tasks_leave_name(tasks, task, time);
	if (task->thread != NO_THREAD) {
		bool returns = may_return(tasks, task);

		if (!add_name(task, returns ? task->thread : NO_THREAD) || !returns)
			tables_thread_ended(tasks->tables, task->thread, time);
	}
	task->comm = comm;
	task->thread = task->names ? find_slot(task->names, comm) : NO_THREAD;
}

bool task_has_many_names(const struct task *task)
{
	return task->names && task->names->nr == TASK_MAX_NAMES;
}

void task_end_names(struct tasks *tasks, struct task *task, uint64_t time)
{
	for (unsigned i = 0; task->names && i < task->names->nr; i++)
		if (task->names->names[i].thread != task->thread)
			tables_thread_ended(tasks->tables, task->names->names[i].thread, time);
	free(task->names);
	task->names = NULL;
}
