/* Adds up samples, batch by batch: those of one wait together for the memory that each needs. */
#include "output/profile/profile_build.h"

#include "hmb/lambda.h"
#include "trace/read_ahead.h"

#include <errno.h>

/* The last place of an array is for all that are behind it. */
static uint32_t clamped(uint32_t number, uint32_t nr)
{
	return number < nr ? number : nr - 1;
}

/* Where a sample belongs. */
struct target {
	uint32_t node; /* PROFILE_NONE: nowhere, it does not count */
	uint32_t subset;
	uint32_t sum; /* PROFILE_NONE: all samples are of one subset */
	uint32_t row;
};

/*
 * The bucket of a sample. CPUs number their samples from different starts, so that samples of one
 * tick have different levels in the buffer. What a program in lockstep does is told by the number
 * of the tick.
 */
static uint32_t bucket_of(struct builder *builder, const struct trace_sample *sample)
{
	uint64_t tick;

	if (!ticks_known(&builder->bars.ticks))
		return clamped(sample->level - builder->lowest, PROFILE_NR_BUCKETS);
	tick = ticks_at(&builder->bars.ticks, sample->time);
	tick_sizes_add(&builder->tick_sizes, tick);
	return clamped(lambda(tick), PROFILE_NR_BUCKETS);
}

static int add_sample(struct builder *builder, const struct trace_sample *sample,
                      const struct target *target)
{
	struct profile *profile = builder->profile;
	uint32_t bucket = bucket_of(builder, sample);
	bool summed = target->sum != PROFILE_NONE;
	struct profile_row *row = &profile->rows[target->row];
	uint32_t thread = clamped(sample->thread, builder->nr_threads);
	uint64_t weight = profile_weight(profile, sample);

	if (summed)
		builder->sums.sums[target->sum].self += weight;
	else
		builder->tree.self[target->node] += weight;
	profile->subsets[target->subset].weight += weight;
	row->self += weight;
	row->samples++;
	if (!++row->buckets[bucket] && profile_carry(profile, target->row, bucket))
		return -ENOMEM;
	profile->buckets[bucket]++;
	profile->samples++;
	profile->total += weight;
	profile->sampled += sample->weight;
	if (sample->weight > profile->max_weight)
		profile->max_weight = sample->weight;
	if (sample->time > profile->latest)
		profile->latest = sample->time;
	builder->by_thread[thread] += sample->weight;
	if (sample->nr_counters &&
	    profile_count(profile, sample, summed ? target->sum : target->node, target->row,
	                  error_bars_goes_on(&builder->bars, sample, target->row)))
		return -ENOMEM;
	return error_bars_step(&builder->bars, sample, target->row, (double)weight);
}

/* --- a batch ---------------------------------------------------------------------------------- */

#define BATCH_SIZE 32

struct batch {
	const struct trace_sample *samples;
	struct target targets[BATCH_SIZE];
	unsigned nr;
};

/* Most samples are of the subset of the last. */
static uint32_t subset_of(struct builder *builder, const struct trace_sample *sample)
{
	if (builder->one_subset && builder->profile->nr_subsets)
		return 0;
	if (sample->thread == builder->last_thread && sample->cpu == builder->last_cpu &&
	    sample->memory == builder->last_memory && builder->profile->nr_subsets)
		return builder->last_subset;
	builder->last_thread = sample->thread;
	builder->last_cpu = sample->cpu;
	builder->last_memory = sample->memory;
	builder->last_subset = builder_subset(builder, sample);
	return builder->last_subset;
}

static int find_targets(struct builder *builder, struct batch *batch)
{
	uint32_t nodes[BATCH_SIZE];
	int err = path_tree_find(&builder->tree, batch->samples, batch->nr,
	                         builder->profile->config.selection, nodes);

	for (unsigned i = 0; i < batch->nr && !err; i++) {
		struct target *target = &batch->targets[i];

		target->node = nodes[i];
		if (target->node == PROFILE_NONE)
			continue;
		target->subset = subset_of(builder, &batch->samples[i]);
		if (target->subset == PROFILE_NONE)
			err = -ENOMEM;
		__builtin_prefetch(&builder->tree.self[target->node]);
	}
	return err;
}

/* The sum of what no sample was in before is a new one. */
static int find_sum(struct builder *builder, struct target *target)
{
	struct profile *profile = builder->profile;
	struct sum_table *sums = &builder->sums;
	uint32_t name = builder->tree.nodes[target->node].name;

	target->sum = sum_table_find(sums, builder->tree.self, profile->rows, target->node,
	                             target->subset, target->sum);
	if (target->sum != PROFILE_NONE) {
		target->row = sums->sums[target->sum].row;
		return 0;
	}
	target->row = builder_row(builder, target->subset, name);
	if (target->row != PROFILE_NONE)
		target->sum = sum_table_add(sums, builder->tree.self, profile->rows, target->node,
		                            target->row);
	return target->sum == PROFILE_NONE ? -ENOMEM : 0;
}

static int find_row(struct builder *builder, struct target *target)
{
	if (!builder->one_subset)
		return find_sum(builder, target);
	target->sum = PROFILE_NONE;
	target->row = builder_row(builder, target->subset, builder->tree.nodes[target->node].name);
	return target->row == PROFILE_NONE ? -ENOMEM : 0;
}

/* Three look-ups after each other for each sample: those of all samples at once. */
static void look_ahead_rows(const struct builder *builder, struct batch *batch)
{
	const struct profile *profile = builder->profile;
	const struct sum_table *sums = &builder->sums;
	struct target *targets = batch->targets;

	for (unsigned i = 0; i < batch->nr; i++)
		if (targets[i].node != PROFILE_NONE)
			sum_table_prefetch(sums, targets[i].node, targets[i].subset);
	for (unsigned i = 0; i < batch->nr; i++)
		if (targets[i].node != PROFILE_NONE)
			targets[i].sum = sum_table_guess(sums, builder->tree.self, targets[i].node,
			                                 targets[i].subset);
	for (unsigned i = 0; i < batch->nr; i++) {
		if (targets[i].node == PROFILE_NONE)
			continue;
		if (targets[i].sum != PROFILE_NONE)
			__builtin_prefetch(&profile->rows[sums->sums[targets[i].sum].row]);
		else
			hash_slots_prefetch(&builder->rows,
			                    node_hash(targets[i].subset,
			                              builder->tree.nodes[targets[i].node].name));
	}
}

static int batch_add(struct builder *builder, struct batch *batch)
{
	const struct profile *profile = builder->profile;
	struct target *targets = batch->targets;
	int err = find_targets(builder, batch);

	if (!err && !builder->one_subset)
		look_ahead_rows(builder, batch);
	for (unsigned i = 0; i < batch->nr && !err; i++) {
		if (targets[i].node == PROFILE_NONE)
			continue;
		err = find_row(builder, &targets[i]);
		__builtin_prefetch(&profile->rows[targets[i].row]);
		error_bars_prefetch(&builder->bars, targets[i].row);
	}
	for (unsigned i = 0; i < batch->nr && !err; i++) {
		if (targets[i].node != PROFILE_NONE)
			err = add_sample(builder, &batch->samples[i], &targets[i]);
		else
			err = error_bars_step(&builder->bars, &batch->samples[i], ERROR_BARS_NONE,
			                      0);
	}
	return err;
}

/* --- all of them ------------------------------------------------------------------------------ */

static int add_all(struct builder *builder, struct read_ahead *ahead)
{
	int err = path_tree_use_pairs(&builder->tree, read_ahead_pairs(ahead)), got = 1;
	struct batch batch;

	while (got == 1 && !err) {
		got = read_ahead_some(ahead, BATCH_SIZE, &batch.samples, &batch.nr);
		err = batch_add(builder, &batch);
	}
	return err ? err : got;
}

int builder_add_samples(struct builder *builder)
{
	struct profile *profile = builder->profile;
	struct read_ahead *ahead = read_ahead_new(profile->trace, profile->config.event);
	int err = ahead ? 0 : -ENOMEM;

	builder->lowest = trace_shift(trace_event(profile->trace, profile->config.event));
	if (!err)
		err = add_all(builder, ahead);
	tick_sizes_end(&builder->tick_sizes);
	if (profile->samples)
		profile->samples_in_tick = builder->tick_sizes.squares / (double)profile->samples;
	read_ahead_free(ahead);
	return err;
}
