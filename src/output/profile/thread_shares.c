#include "output/profile/thread_shares.h"
#include "output/profile/clock_sides.h"

#include <errno.h>
#include <stdlib.h>

#define COVERED 0.99 /* of the exact total: nothing is missing */

bool thread_unused(const struct shares *shares, const struct trace *trace, uint32_t thread)
{
	const struct trace_thread *entry = trace_thread(trace, thread);

	(void)shares;
	return !entry->tid && !(entry->flags & TRACE_THREAD_FOLDED);
}

bool command_unused(const struct shares *shares, const struct trace *trace, uint32_t command)
{
	const struct trace_command *entry = trace_command(trace, command);

	return !entry->tasks && !entry->exact && !entry->unobserved &&
	       !shares->commands[command].stored;
}

static int add_sample(void *arg, const struct trace_sample *sample)
{
	struct shares *shares = arg;
	struct share *thread;

	for (unsigned i = 0; i < sample->nr_counters; i++)
		shares->counted[i] += sample->counters[i];
	if (sample->thread >= shares->nr_threads)
		return 0;
	thread = &shares->threads[sample->thread];
	thread->stored++;
	thread->samples += !sample->event;
	thread->weight += sample->event ? 0 : sample->weight;
	return 0;
}

int commands_by_name(const struct trace *trace, struct map64 *by_comm)
{
	const struct trace_command *command;
	int err = 0;

	*by_comm = (struct map64){0};
	for (uint32_t i = 0; (command = trace_command(trace, i)) && !err; i++)
		if (map64_get(by_comm, command->comm) == UINT32_MAX)
			err = map64_add(by_comm, command->comm, i);
	return err;
}

static int sum_commands(struct shares *shares, const struct trace *trace)
{
	struct map64 by_comm;
	int err = commands_by_name(trace, &by_comm);

	for (uint32_t i = 0; i < shares->nr_threads && !err; i++) {
		uint32_t command = map64_get(&by_comm, trace_thread(trace, i)->comm);

		if (command == UINT32_MAX)
			continue;
		shares->commands[command].stored += shares->threads[i].stored;
		shares->commands[command].samples += shares->threads[i].samples;
		shares->commands[command].weight += shares->threads[i].weight;
	}
	map64_fini(&by_comm);
	return err;
}

int shares_init(struct shares *shares, const struct trace *trace)
{
	int err = -ENOMEM;

	*shares = (struct shares){0};
	shares->nr_threads = trace_nr(trace, TRACE_THREADS);
	shares->nr_commands = trace_nr(trace, TRACE_COMMANDS);
	shares->threads = calloc(shares->nr_threads + 1UL, sizeof(*shares->threads));
	shares->commands = calloc(shares->nr_commands + 1UL, sizeof(*shares->commands));
	if (shares->threads && shares->commands)
		err = trace_each_sample(trace_walk_unordered(trace, TRACE_ALL_EVENTS), add_sample,
		                        shares);
	if (!err)
		err = sum_commands(shares, trace);
	if (err)
		shares_fini(shares);
	return err;
}

void shares_fini(struct shares *shares)
{
	free(shares->threads);
	free(shares->commands);
	*shares = (struct shares){0};
}

bool shares_exact_known(const struct trace *trace)
{
	const struct trace_command *command;

	for (uint32_t i = 0; (command = trace_command(trace, i)); i++)
		if (command->flags & TRACE_THREAD_EXACT)
			return true;
	return false;
}

static struct coverage coverage_of(const struct shares *shares, const struct trace *trace)
{
	struct coverage coverage = {0};
	const struct trace_command *command;

	for (uint32_t i = 0; i < shares->nr_commands; i++) {
		command = trace_command(trace, i);
		if (!(command->flags & TRACE_THREAD_EXACT))
			continue;
		coverage.exact += command->exact;
		coverage.sampled += shares->commands[i].weight < command->exact
		                            ? shares->commands[i].weight
		                            : command->exact;
	}
	return coverage;
}

bool shares_lack_samples(const struct trace *trace, struct coverage *coverage)
{
	const struct trace_event *event = trace_event(trace, 0);
	struct shares shares;

	/*
	 * The exact total of a clock counts user and kernel: it is no measure for samples of the
	 * kernel alone.
	 */
	if (!shares_exact_known(trace) || clock_sides(trace, event) == CLOCK_KERNEL ||
	    shares_init(&shares, trace))
		return false;
	*coverage = coverage_of(&shares, trace);
	shares_fini(&shares);
	return (double)coverage->sampled < COVERED * (double)coverage->exact;
}
