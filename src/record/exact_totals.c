#include "record/exact_totals.h"

static uint64_t told_by_tasks(const struct session *s)
{
	struct trace_command *command;
	uint64_t sum = 0;

	for (uint32_t i = 0; (command = tables_command_at(s->tables, i)); i++)
		sum += command->exact;
	return sum / s->tasks.scale;
}

/* Adds up the totals of tasks. A task whose record found no room is missing in told_by_tasks(). */
static uint64_t counted_by_task(const struct session *s)
{
	if (s->tasks.by_switches)
		return tasks_still_to_tell(&s->tasks) + told_by_tasks(s);
	return sampler_lost_records(s->sampler) ? told_by_tasks(s) : sampler_exact(s->sampler);
}

/*
 * Where the kernel lost some of it, nobody knows of which task. Its records of switches come some
 * us after a task begins to be counted, and before it ends.
 */
static bool believable(const struct session *s)
{
	uint64_t total = sampler_total(s->sampler, 0), counted = counted_by_task(s);
	uint64_t off = total > counted ? total - counted : counted - total;
	uint64_t period = sampler_base_period(s->sampler, 0, 0);

	return off <= total / (s->tasks.by_switches ? 20 : 50) + 10 * period;
}

static void forget_all(struct session *s)
{
	struct trace_command *command;
	struct trace_thread *thread;

	for (uint32_t i = 0; (command = tables_command_at(s->tables, i)); i++) {
		command->flags &= ~(uint32_t)TRACE_THREAD_EXACT;
		command->exact = 0;
	}
	for (uint32_t i = 0; (thread = tables_thread(s->tables, i)); i++) {
		thread->flags &= ~(uint32_t)TRACE_THREAD_EXACT;
		thread->exact = 0;
	}
}

/*
 * Marks the totals of commands with running tasks as inexact: these tasks have reported nothing
 * yet. Tasks that died without a report used too little to matter.
 */
static void forget_living(struct session *s)
{
	for (const struct task *task = s->tasks.tasks; task; task = task->hh.next)
		if (task_lives(task) && !task->process->awaits_exec)
			tables_command(s->tables, task->comm)->flags &=
				~(uint32_t)TRACE_THREAD_EXACT;
}

/*
 * The total of all tasks is known even where tasks report nothing. If there is only one command,
 * the total is this command's.
 */
static void take_total(struct session *s)
{
	struct trace_command *command, *only = NULL;
	unsigned nr = 0;

	for (uint32_t i = 0; (command = tables_command_at(s->tables, i)); i++)
		if (command->tasks || command->exact) {
			only = command;
			nr++;
		}
	forget_all(s);
	if (nr != 1)
		return;
	only->exact = sampler_exact(s->sampler) * s->tasks.scale;
	only->flags |= TRACE_THREAD_EXACT;
}

void exact_total(struct session *s)
{
	bool told;

	if (s->sampling.way == SAMPLER_CGROUP || !s->config->command)
		return;
	told = s->tasks.nr_told || !s->tasks.nr_ended;
	if (told && believable(s))
		forget_living(s);
	else if (told && !s->tasks.by_switches)
		forget_all(s);
	else
		take_total(s);
}
