#include "output/profile/profile_build.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* --- the beginning ---------------------------------------------------------------------------- */

/* One more of each: for numbers that a file makes up. */
static int builder_init(struct builder *builder, struct profile *profile)
{
	const struct path_tree_config tree = {
		.with_self = true,
		.flat = profile->config.self_alone || !(profile->config.keys & PROFILE_NAME_KEYS),
	};
	const struct trace *trace = profile->trace;

	builder->profile = profile;
	builder->nr_threads = trace_nr(trace, TRACE_THREADS) + 1;
	builder->one_subset = !(profile->config.keys & PROFILE_CLASS_KEYS);
	builder->by_thread = calloc(builder->nr_threads, sizeof(*builder->by_thread));
	if (path_tree_init(&builder->tree, &profile->names, &tree) ||
	    error_bars_init(&builder->bars, trace, profile->config.event) || !builder->by_thread)
		return -ENOMEM;
	return builder_init_subsets(builder);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Frees the lookup tables of nodes, rows and subsets, before more memory is needed. */
static void builder_forget(struct builder *builder)
{
	path_tree_settle(&builder->tree);
	hash_slots_fini(&builder->rows);
	hash_slots_fini(&builder->subsets);
}

static void tell_errors(struct builder *builder)
{
	struct profile *profile = builder->profile;

	error_bars_end(&builder->bars);
	profile->has_all = builder->bars.has_all;
	profile->in_step = ticks_known(&builder->bars.ticks);
	for (uint32_t i = 0; i < profile->nr_rows; i++)
		if (profile->rows[i].samples)
			profile->rows[i].variance = error_bars_variance(&builder->bars, i);
}

/* In whole-system recordings: where nothing runs, a CPU's idle task is sampled. */
static uint64_t idle_weight(const struct builder *builder)
{
	uint64_t weight = 0;

	for (uint32_t i = 0; i + 1 < builder->nr_threads; i++)
		if (builder->by_thread[i] && trace_thread_is_idle(builder->profile->trace, i))
			weight += builder->by_thread[i];
	return weight;
}

static int complete(struct builder *builder)
{
	struct profile *profile = builder->profile;
	int err;

	builder_forget(builder);
	tell_errors(builder);
	profile->idle = idle_weight(builder);
	profile->nodes = builder->tree.nodes;
	profile->nr_nodes = builder->tree.nr;
	profile->self = builder->tree.self;
	builder->tree.nodes = NULL;
	builder->tree.self = NULL;
	sum_table_give(&builder->sums, profile);
	err = profile_settle_sums(profile);
	if (!err && !profile->sums) {
		profile_sum_nodes(profile->nodes, profile->self, profile->nr_nodes);
		err = profile_sum_counts(&profile->counts, profile->nodes, profile->nr_nodes);
	}
	return err ? err : builder_add_unsampled(builder);
}

/* --- the whole -------------------------------------------------------------------------------- */

static void builder_fini(struct builder *builder)
{
	builder_forget(builder);
	path_tree_fini(&builder->tree);
	sum_table_fini(&builder->sums);
	free(builder->by_thread);
	free(builder->process_of);
	free(builder->thread_of);
	error_bars_fini(&builder->bars);
}

struct profile *profile_new(const struct trace *trace, const struct profile_config *config)
{
	struct profile *profile = calloc(1, sizeof(*profile));
	struct builder builder = {0};
	int err = -ENOMEM;

	if (!profile)
		goto out;
	profile->trace = trace;
	profile->config = *config;
	frame_names_init(&profile->names, trace,
	                 config->keys & (PROFILE_NAME_KEYS | PROFILE_INLINED));
	err = builder_init(&builder, profile);
	if (!err && config->scale)
		err = builder_scale(&builder);
	if (!err && trace_event(trace, config->event))
		err = builder_add_samples(&builder);
	if (!err)
		err = complete(&builder);
out:
	builder_fini(&builder);
	if (!err)
		return profile;
	profile_free(profile);
	errno = -err;
	return NULL;
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	frame_names_fini(&profile->names);
	map64_fini(&profile->carried);
	free(profile->subsets);
	free(profile->rows);
	free(profile->nodes);
	free(profile->self);
	free(profile->sums);
	free(profile->unsampled);
	free(profile->row_counts.at);
	free(profile->counts.at);
	free(profile->scaled);
	free(profile->factors);
	free(profile);
}

double profile_error(const struct profile_row *row)
{
	return 1.96 * sqrt(row->variance);
}

void profile_add_variance(const struct profile *profile, double *sum, double variance)
{
	*sum += variance + (profile->in_step ? 2 * sqrt(*sum * variance) : 0);
}

double profile_unmet_variance(const struct profile *profile)
{
	const struct trace_event *event = trace_event(profile->trace, profile->config.event);
	double weight = (double)profile->max_weight;

	if (profile->has_all)
		return 0;
	if (!profile->samples)
		weight = (double)trace_period(event, trace_shift(event));
	return weight * weight;
}
