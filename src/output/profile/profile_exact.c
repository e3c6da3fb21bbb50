#include "output/profile/clock_sides.h"
#include "output/profile/profile_build.h"
#include "output/profile/thread_shares.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A command's functions are scaled up to its exact total where samples cover enough of it. */
#define SCALE_LEAST_SAMPLES 30
#define SCALE_LEAST_PERCENT 80

/* Whether the total of event 0 has the kernel's time in it and the samples do not. */
static bool counts_kernel(const struct trace *trace)
{
	return clock_sides(trace, trace_event(trace, 0)) == CLOCK_USER;
}

static enum profile_why why_unsampled(const struct trace *trace)
{
	return counts_kernel(trace) ? PROFILE_KERNEL : PROFILE_UNSAMPLED;
}

const char *profile_unsampled_in(const struct trace *trace)
{
	return profile_unsampled_name(
		&(const struct profile_unsampled){.why = why_unsampled(trace)});
}

/* Adds a row of its own for the part of a command's exact total that no sample stands for. */
static int add_unsampled(struct builder *builder, const struct profile_unsampled *unsampled)
{
	struct profile *profile = builder->profile;
	uint32_t subset = builder_add_subset(builder), row;

	row = subset == PROFILE_NONE ? subset : builder_add_row(builder, subset, PROFILE_NONE);
	if (row == PROFILE_NONE)
		return -ENOMEM;
	profile->subsets[subset].thread = profile->subsets[subset].cpu = PROFILE_NONE;
	profile->subsets[subset].process = PROFILE_NONE;
	profile->subsets[subset].comm = unsampled->comm;
	profile->rows[row].self = unsampled->exact - unsampled->sampled;
	profile->total += profile->rows[row].self;
	profile->unsampled[profile->nr_unsampled] = *unsampled;
	profile->unsampled[profile->nr_unsampled++].row = row;
	return 0;
}

/* Exact totals are of event 0 and of the whole run; of the kernel's side alone they say nothing. */
static bool exact_wanted(const struct profile *profile)
{
	return clock_sides(profile->trace, trace_event(profile->trace, 0)) != CLOCK_KERNEL &&
	       profile->config.event == 0 && selection_is_all(profile->config.selection) &&
	       !profile->config.sampled_alone;
}

/*
 * The weight of a command's samples, and the number of runs of successive samples that they form.
 */
struct sampled {
	uint64_t weight;
	double nr_runs;
};

/* Exact totals of commands are of inherited events: a thread is a stream. */
static void sum_commands(const struct builder *builder, const struct map64 *by_comm,
                         struct sampled *sampled)
{
	const struct trace *trace = builder->profile->trace;

	for (uint32_t i = 0; i + 1 < builder->nr_threads; i++) {
		uint32_t command = map64_get(by_comm, trace_thread(trace, i)->comm);

		if (!builder->by_thread[i] || command == UINT32_MAX)
			continue;
		sampled[command].weight += builder->by_thread[i];
		sampled[command].nr_runs += error_bars_runs(&builder->bars, i);
	}
}

static bool is_scaled(const struct profile *profile, uint32_t comm)
{
	for (uint32_t i = 0; i < profile->nr_scaled; i++)
		if (profile->scaled[i].comm == comm)
			return true;
	return false;
}

/* The unsampled rest of an exact total is as uncertain as its sampled part. */
static void add_variance(struct profile *profile, const struct sampled *sampled)
{
	double weight = (double)profile->max_weight;

	profile->rows[profile->unsampled[profile->nr_unsampled - 1].row].variance =
		weight * weight * (sampled->nr_runs + 1);
}

static int add_idle(struct builder *builder, const struct trace_command *command)
{
	const struct profile_unsampled idle = {command->comm, 0, 0, command->exact, PROFILE_IDLE};

	builder->profile->idle += command->exact;
	return command->exact ? add_unsampled(builder, &idle) : 0;
}

static int add_missing(struct builder *builder, const struct trace_command *command,
                       const struct sampled *sampled)
{
	struct profile_unsampled short_tasks = {command->comm, 0, sampled->weight, command->exact,
	                                        why_unsampled(builder->profile->trace)};
	struct profile_unsampled unseen = {command->comm, 0, 0, command->unobserved,
	                                   PROFILE_UNOBSERVED};
	int err = 0;

	if (trace_command_is_idle(builder->profile->trace, command))
		return add_idle(builder, command);
	/* Less than one sample is what sampling rounds off. */
	if (command->flags & TRACE_THREAD_EXACT && !is_scaled(builder->profile, command->comm) &&
	    command->exact > sampled->weight + builder->profile->max_weight) {
		err = add_unsampled(builder, &short_tasks);
		if (!err)
			add_variance(builder->profile, sampled);
	}
	if (!err && command->unobserved &&
	    trace_event(builder->profile->trace, 0)->unit == TRACE_NS)
		err = add_unsampled(builder, &unseen);
	return err;
}

static int add_all_unsampled(struct builder *builder, uint32_t nr)
{
	struct profile *profile = builder->profile;
	struct sampled *sampled = calloc(nr, sizeof(*sampled));
	struct map64 by_comm;
	int err = commands_by_name(profile->trace, &by_comm);

	if (!sampled)
		err = -ENOMEM;
	if (!err)
		sum_commands(builder, &by_comm, sampled);
	for (uint32_t i = 0; i < nr && !err; i++)
		err = add_missing(builder, trace_command(profile->trace, i), &sampled[i]);
	map64_fini(&by_comm);
	free(sampled);
	return err;
}

static int compare_unsampled(const void *a, const void *b)
{
	const struct profile_unsampled *x = a, *y = b;
	uint64_t of_x = x->exact - x->sampled, of_y = y->exact - y->sampled;

	return ORDER(of_y, of_x) ?: ORDER(x->row, y->row);
}

int builder_add_unsampled(struct builder *builder)
{
	struct profile *profile = builder->profile;
	uint32_t nr = trace_nr(profile->trace, TRACE_COMMANDS);
	int err;

	if (!nr || !exact_wanted(profile))
		return 0;
	profile->unsampled = calloc(2 * (size_t)nr, sizeof(*profile->unsampled));
	err = profile->unsampled ? add_all_unsampled(builder, nr) : -ENOMEM;
	if (!err)
		ARRAY_SORT(profile->unsampled, profile->nr_unsampled, compare_unsampled);
	return err;
}

/* --- scaling ---------------------------------------------------------------------------------- */

/* Samples of an inherited event may stand for time of the thread that it was passed on from. */
static bool is_exceeded(const struct trace_command *command, const struct share *share,
                        uint64_t period)
{
	return command->exact && share->weight > command->exact + period;
}

static bool is_covered(const struct trace_command *command, const struct share *share,
                       uint64_t period)
{
	return share->samples >= SCALE_LEAST_SAMPLES && command->exact > share->weight + period &&
	       100 * (double)share->weight >= SCALE_LEAST_PERCENT * (double)command->exact;
}

static bool may_scale(const struct trace *trace, const struct trace_command *command,
                      const struct share *share)
{
	const struct trace_event *event = trace_event(trace, 0);
	uint64_t period = trace_period(event, trace_shift(event));

	return command->flags & TRACE_THREAD_EXACT &&
	       (is_exceeded(command, share, period) ||
	        (!counts_kernel(trace) && is_covered(command, share, period)));
}

static int scale_threads(struct profile *profile, uint32_t comm, double factor)
{
	uint32_t nr = trace_nr(profile->trace, TRACE_THREADS);

	if (!profile->factors) {
		profile->factors = calloc(nr + 1UL, sizeof(*profile->factors));
		if (!profile->factors)
			return -ENOMEM;
		for (uint32_t i = 0; i < nr; i++)
			profile->factors[i] = 1;
	}
	for (uint32_t i = 0; i < nr; i++)
		if (trace_thread(profile->trace, i)->comm == comm)
			profile->factors[i] = factor;
	return 0;
}

static uint64_t difference(const struct profile_scaled *scaled)
{
	return scaled->exact > scaled->sampled ? scaled->exact - scaled->sampled
	                                       : scaled->sampled - scaled->exact;
}

static int compare_scaled(const void *a, const void *b)
{
	const struct profile_scaled *x = a, *y = b;
	uint64_t of_x = difference(x), of_y = difference(y);

	return ORDER(of_y, of_x) ?: ORDER(x->comm, y->comm);
}

static int scale_commands(struct profile *profile, const struct shares *shares)
{
	int err = 0;

	profile->scaled = calloc(shares->nr_commands + 1UL, sizeof(*profile->scaled));
	if (!profile->scaled)
		return -ENOMEM;
	for (uint32_t i = 0; i < shares->nr_commands && !err; i++) {
		const struct trace_command *command = trace_command(profile->trace, i);
		const struct share *share = &shares->commands[i];

		if (!may_scale(profile->trace, command, share) || is_scaled(profile, command->comm))
			continue;
		profile->scaled[profile->nr_scaled++] =
			(struct profile_scaled){command->comm, share->weight, command->exact};
		err = scale_threads(profile, command->comm,
		                    (double)command->exact / (double)share->weight);
	}
	ARRAY_SORT(profile->scaled, profile->nr_scaled, compare_scaled);
	return err;
}

int builder_scale(struct builder *builder)
{
	struct profile *profile = builder->profile;
	struct shares shares;
	int err;

	if (!exact_wanted(profile) || !shares_exact_known(profile->trace) ||
	    !trace_event(profile->trace, 0))
		return 0;
	err = shares_init(&shares, profile->trace);
	if (err)
		return err;
	err = scale_commands(profile, &shares);
	shares_fini(&shares);
	return err;
}

/* --- of all commands together ----------------------------------------------------------------- */

uint64_t profile_exact(const struct profile *profile)
{
	const struct trace_event *event = trace_event(profile->trace, profile->config.event);
	bool known = selection_is_all(profile->config.selection) && !profile->nr_unsampled &&
	             !profile->nr_scaled && clock_sides(profile->trace, event) == CLOCK_BOTH;

	return known ? event->exact : 0;
}

double profile_exact_factor(const struct profile *profile)
{
	double exact = (double)profile_exact(profile), total = (double)profile->total;

	if (profile->samples < SCALE_LEAST_SAMPLES || 100 * total < SCALE_LEAST_PERCENT * exact ||
	    100 * exact < SCALE_LEAST_PERCENT * total)
		return 1;
	return exact / total;
}
