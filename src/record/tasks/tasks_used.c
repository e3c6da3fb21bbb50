/*
 * Exact totals of event 0 by command and thread, as the kernel reports them with inherited events.
 */
#include "record/tasks/process_times.h"
#include "record/tasks/tasks.h"

void tasks_pause(struct tasks *tasks, uint64_t time)
{
	if (tasks->paused)
		tasks->paused_before += tasks->resumed - tasks->paused;
	tasks->paused = time;
	tasks->resumed = UINT64_MAX;
}

void tasks_resume(struct tasks *tasks, uint64_t time)
{
	tasks->resumed = time;
}

uint64_t tasks_unpaused(const struct tasks *tasks, uint64_t time)
{
	if (!tasks->paused || time < tasks->paused)
		return time - tasks->paused_before;
	if (time < tasks->resumed)
		return tasks->paused - tasks->paused_before;
	return time - tasks->paused_before - (tasks->resumed - tasks->paused);
}

/* Returns how long a task ran until a time, by the records of switches. */
static uint64_t ran_until(const struct tasks *tasks, const struct task_usage *usage, uint64_t time)
{
	uint64_t until = tasks_unpaused(tasks, time);
	bool runs = usage->runs_since && until > usage->runs_since;

	return usage->ran + (runs ? until - usage->runs_since : 0);
}

/*
 * One total will be told of all programs that a thread has executed. What belongs to the earlier
 * ones is known where switches are; else it is what their samples stand for, and where samples see
 * user code alone at least what the thread's clock shows, less the time that has passed since.
 */
static uint64_t used_by_program(const struct tasks *tasks, const struct task_usage *from, pid_t tid,
                                uint64_t time, bool *exactly)
{
	uint64_t used = 0, before = from->earlier, least = from->sampled;

	if (tasks->by_switches) {
		used = ran_until(tasks, from, time);
		least = 0;
	} else if (tasks->user_only) {
		used = thread_used_by(tid, time);
		before += from->before;
	}
	*exactly = used > before + least;
	return *exactly ? used - before : from->sampled;
}

void tasks_leave_program(struct tasks *tasks, struct task *from, struct task *to, uint64_t time)
{
	struct trace_command *command = tables_command(tasks->tables, from->comm);
	struct task_usage *was = &from->usage, *is = &to->usage;
	uint64_t own, earlier = was->earlier, ran = ran_until(tasks, was, time);
	bool exactly;

	if (!tasks->inherited)
		return;
	own = used_by_program(tasks, was, to->tid, time, &exactly);
	if (exactly)
		command->flags |= TRACE_THREAD_EXACT;
	command->exact += own;
	was->sampled = was->earlier = 0;
	was->ran = was->runs_since = 0;
	is->earlier += earlier + own;
	is->before = was->before;
	is->ran += ran;
	is->runs_since = tasks_unpaused(tasks, time);
}

/* Between two samples nothing is known of many names, and asking for each would be endless. */
void tasks_leave_name(struct tasks *tasks, struct task *task, uint64_t time)
{
	struct trace_command *command = tables_command(tasks->tables, task->comm);
	struct trace_thread *thread = tables_thread(tasks->tables, task->thread);
	uint64_t own;
	bool exactly;

	if (!tasks->inherited || (!task->usage.sampled && !tasks->by_switches))
		return;
	own = used_by_program(tasks, &task->usage, task->tid, time, &exactly);
	if (exactly)
		command->flags |= TRACE_THREAD_EXACT;
	command->exact += own;
	if (thread)
		thread->exact += own;
	task->usage.sampled = 0;
	task->usage.earlier += own;
}

void tasks_tell(struct tasks *tasks, struct task *task, uint64_t units)
{
	struct trace_command *command;
	struct trace_thread *thread;
	uint64_t earlier;

	task->usage.observed += units;
	task->usage.told = true;
	tasks->nr_told++;
	earlier = units < task->usage.earlier ? units : task->usage.earlier;
	task->usage.earlier -= earlier;
	units -= earlier;
	command = tables_command(tasks->tables, task->comm);
	command->exact += units;
	command->flags |= TRACE_THREAD_EXACT;
	if (task->thread == NO_THREAD)
		return;
	thread = tables_thread(tasks->tables, task->thread);
	thread->exact += units;
	thread->flags |= TRACE_THREAD_EXACT;
}

void tasks_switch(struct tasks *tasks, struct task *task, const struct record *record)
{
	tasks->nr_switches++;
	task->usage.ran = ran_until(tasks, &task->usage, record->time);
	task->usage.runs_since =
		record->type == RECORD_RUN ? tasks_unpaused(tasks, record->time) : 0;
}

void tasks_tell_ran(struct tasks *tasks, struct task *task, uint64_t time)
{
	uint64_t ran = ran_until(tasks, &task->usage, time);

	task->usage.ran = task->usage.runs_since = 0;
	tasks_tell(tasks, task, ran);
}

uint64_t tasks_still_to_tell(const struct tasks *tasks)
{
	uint64_t sum = 0;

	for (const struct task *task = tasks->tasks; task; task = task->hh.next)
		if (!task->ended && !task->process->awaits_exec)
			sum += ran_until(tasks, &task->usage, tasks->now) - task->usage.earlier;
	return sum;
}

void tasks_forget_switches(struct tasks *tasks)
{
	tasks->by_switches = false;
	tasks->nr_told = 0;
}
